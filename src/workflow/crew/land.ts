import type { CrewReport } from '../../contract/collaboration/crew-report.ts'
import { derivedSpan } from '../../contract/derived-ids.ts'
import { AppError } from '../../contract/errors.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { FlowRoot } from '../../ports/durable.ts'
import { askPerson } from '../ask-person.ts'
import { isAccepted } from './complete.ts'
import type { CrewRun } from './crew-run.ts'

/** What came of landing: the commit on the branch of a person, or why there is none. */
export type Landed = { readonly landed: string | null; readonly why?: string }

/** Where good work is meant to go; nothing where there is none, or no branch to land it on. */
function target({ input }: CrewRun, { outcome, files }: CrewReport): string | undefined {
  const { into } = input.repo
  return isAccepted(outcome) && files.length > 0 && into !== null ? into : undefined
}

/** Asks a person whether good work may land, for as long as it takes; nothing of theirs is touched before they say so. */
export async function land(crew: CrewRun, report: CrewReport): Promise<Landed | undefined> {
  const into = target(crew, report)
  if (into === undefined) return undefined
  const inputCount = report.files.length
  return crew.phases.run('land', { inputCount }, async (at) => {
    const value = await untilLanded(crew, { at, into, summary: report.summary })
    return { value, count: value.landed === null ? 0 : inputCount }
  })
}

type Landing = { readonly at: FlowRoot; readonly into: string; readonly summary: string }

/** Asks until it has landed or is not wanted: what is in the way is told, and can be fixed. */
async function untilLanded(crew: CrewRun, landing: Landing): Promise<Landed> {
  const { flow, input, branch } = crew
  const { into } = landing
  let reason = landing.summary
  for (let n = 1; ; n++) {
    const decision = await askPerson(flow, `land-${n}`, {
      subject: 'land',
      action: `Land ${branch} into ${into}?`,
      reason,
      risk: 'low',
      rollback: `git -C ${input.repo.root} branch -f ${into} ${into}@{1}`,
      options: ['approve', 'reject'],
    })
    if (decision.verdict === 'deny') return { landed: null, ...(decision.reason && { why: decision.reason }) }
    const tried = await merge(crew, landing, n)
    if (tried.landed !== null) return tried
    reason = `It could not land: ${tried.why}. Fix that, and approve again.`
  }
}

/** Moves the branch of a person: what is meant to be done is on disk before it, and what came of it after. */
async function merge(
  { flow, parts, input, branch }: CrewRun,
  { at, into }: Landing,
  n: number,
): Promise<Landed> {
  const dir = input.repo.root
  const effect = { effectId: `land:${flow.id}:${n}`, effect: 'git' }
  const place = { ...at, spanId: derivedSpan(effect.effectId), parentSpanId: at.spanId }
  await flow.step(`intend-${n}`, async ({ tell }) => {
    tell(draftOf(place, 'effect.intended', { ...effect, target: into, detail: { dir, branch } }))
  })
  return flow.step(`land-${n}:merge`, async ({ signal, tell }): Promise<Landed> => {
    const landed = await landingOf(parts.branches.land(dir, { branch, into }, signal))
    tell(draftOf(place, 'effect.done', { ...effect, receipt: landed }))
    return landed
  })
}

async function landingOf(under: Promise<string>): Promise<Landed> {
  try {
    return { landed: await under }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { landed: null, why: error.message }
  }
}
