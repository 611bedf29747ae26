import { derivedSpan } from '../../contract/derived-ids.ts'
import { AppError } from '../../contract/errors.ts'
import { landShortfall } from '../../core/collaboration/workflow-outcome.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Branches } from '../../ports/branches.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Flow, Procedure } from '../../ports/durable.ts'
import { askPerson } from '../ask-person.ts'
import { CrewPhases } from './crew-phases.ts'

export const landName = 'land'

/** A finished branch, and the one that it is meant for. */
export type LandInput = {
  readonly root: string
  readonly branch: string
  readonly into: string
  readonly summary: string
}

type LandParts = { readonly branches: Branches; readonly clock: Clock }

/** What came of it. */
export type Landed = { readonly landed: string | null; readonly why?: string }

/** Asks a person whether a finished branch may land; nothing of theirs is touched before they say so. */
export const landProcedure = ({ branches, clock }: LandParts): Procedure<LandInput, Landed> => ({
  name: landName,
  version: '2',
  unforkable: 'this lands only its own branch; merge another by hand: git merge <branch>',
  failure: landShortfall,
  run: (flow, input) =>
    new CrewPhases({ flow, clock }).run('land', { inputCount: 1 }, async () => ({
      value: await land(branches, flow, input),
      count: 1,
    })),
})

/** Asks until it has landed or is not wanted: what is in the way is told, and can be mended. */
async function land(branches: Branches, flow: Flow, input: LandInput): Promise<Landed> {
  const { root, branch, into } = input
  let reason = input.summary
  for (let n = 1; ; n++) {
    const decision = await askPerson(flow, `land-${n}`, {
      subject: 'land',
      action: `Land ${branch} into ${into}?`,
      reason,
      risk: 'low',
      rollback: `git -C ${root} branch -f ${into} ${into}@{1}`,
      options: ['approve', 'reject'],
    })
    if (decision.verdict === 'deny') return { landed: null, ...(decision.reason && { why: decision.reason }) }
    const tried = await merge(branches, flow, { input, n })
    if (tried.landed !== null) return tried
    reason = `It could not land: ${tried.why}. Fix that, and approve again.`
  }
}

/** Moves the branch of a person: what is meant to be done is on disk before it, and what came of it after. */
async function merge(
  branches: Branches,
  flow: Flow,
  { input: { root: dir, branch, into }, n }: { readonly input: LandInput; readonly n: number },
): Promise<Landed> {
  const effect = { effectId: `land:${flow.id}:${n}`, effect: 'git' }
  const at = () => {
    const root = flow.root()
    return { ...root, spanId: derivedSpan(effect.effectId), parentSpanId: root.spanId }
  }
  await flow.step(`intend-${n}`, async ({ tell }) => {
    tell(draftOf(at(), 'effect.intended', { ...effect, target: into, detail: { dir, branch } }))
  })
  return flow.step(`merge-${n}`, async ({ signal, tell }): Promise<Landed> => {
    const landed = await landing(branches.land(dir, { branch, into }, signal))
    tell(draftOf(at(), 'effect.done', { ...effect, receipt: landed }))
    return landed
  })
}

async function landing(under: Promise<string>): Promise<Landed> {
  try {
    return { landed: await under }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { landed: null, why: error.message }
  }
}
