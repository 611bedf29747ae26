import type { DeveloperReply } from '../../contract/collaboration/replies.ts'
import type { FileChange } from '../../contract/session-file/outputs.ts'
import { type DeveloperOutcome, developerOutcome } from '../../core/delegation/delegation-outcome.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow, FlowRoot } from '../../ports/durable.ts'
import type { WorkEnd } from '../../ports/workers.ts'
import type { Around, Attempt, Collected, Handling } from './carry-out.ts'
import { checkWork } from './check-work.ts'
import { fileChange } from './places.ts'

type Answer = {
  readonly attempt: Attempt
  readonly assignment: Parameters<typeof developerOutcome>[0]
  readonly place: FlowRoot & { readonly taskId: string }
  readonly start: string
  readonly handling: Handling
  readonly end: WorkEnd
  readonly reply: DeveloperReply | undefined
}

type Judged = DeveloperOutcome & { readonly files: readonly FileChange[] }

/** What an answer is worth: what git shows of the work, and what its checks say when nothing else is wrong with it. */
export async function collectWork(around: Around, flow: Flow, answer: Answer): Promise<Judged> {
  const { attempt, assignment, place, start, end, reply } = answer
  const collected = await collect(flow, answer)
  const files = collected.files.map(fileChange)
  const seen = { end, reply, files, outside: collected.outside, left: collected.left }
  const unchecked = developerOutcome(assignment, seen)
  const { commit } = collected
  // Where nothing has changed the checks would show what was there before.
  if (unchecked.state !== 'completed' || files.length === 0 || commit === null) return { ...unchecked, files }
  const checks = await checkWork(around, flow, { attempt, at: place, start, commit })
  return { ...developerOutcome(assignment, { ...seen, checks }), files }
}

/** Takes the work from its place; it is written down as one patch. */
const collect = (flow: Flow, { attempt, place, start, handling }: Answer): Promise<Collected> =>
  flow.step('collect', async ({ signal, tell }) => {
    const found = await handling.collect(attempt, start, signal)
    if (found.files.length > 0)
      tell(
        draftOf({ ...place, actor: attempt.who.id }, 'patch.created', {
          files: found.files.map(({ path, change, added, removed }) => ({
            path,
            change,
            ...(added !== null && { linesAdded: added }),
            ...(removed !== null && { linesRemoved: removed }),
          })),
          ...(found.commit && { commit: found.commit }),
        }),
      )
    return found
  })
