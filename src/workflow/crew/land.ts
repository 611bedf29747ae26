import { AppError } from '../../contract/errors.ts'
import type { Branches } from '../../ports/branches.ts'
import type { Procedure } from '../../ports/durable.ts'
import { askPerson } from '../ask-person.ts'

export const landName = 'land'

/** A finished branch, and the one that it is meant for. */
export type LandInput = {
  readonly root: string
  readonly branch: string
  readonly into: string
  readonly summary: string
}

/** What came of it. */
export type Landed = { readonly landed: string | null; readonly why?: string }

/** Asks a person whether a finished branch may land; nothing of theirs is touched before they say so. */
export const landProcedure = ({
  branches,
}: {
  readonly branches: Branches
}): Procedure<LandInput, Landed> => ({
  name: landName,
  version: '1',
  async run(flow, { root, branch, into, summary }) {
    flow.setPhase('land')
    for (let n = 1; ; n++) {
      const decision = await askPerson(flow, `land-${n}`, {
        subject: 'land',
        action: `Land ${branch} into ${into}?`,
        reason: summary,
        risk: 'low',
        rollback: `git -C ${root} branch -f ${into} ${into}@{1}`,
        options: ['approve', 'reject'],
      })
      if (decision.verdict === 'deny') return { landed: null, why: decision.reason ?? 'it was not wanted' }
      const tried = await flow.step(`merge-${n}`, async ({ signal }): Promise<Landed> => {
        try {
          return { landed: await branches.land(root, { branch, into }, signal) }
        } catch (error) {
          if (!(error instanceof AppError)) throw error
          return { landed: null, why: error.message }
        }
      })
      if (tried.landed !== null) return tried
      summary = `It could not land: ${tried.why}. Mend that, and approve again.`
    }
  },
})
