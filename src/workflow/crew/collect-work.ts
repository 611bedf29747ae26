import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { DeveloperReply, PlanTask } from '../../contract/collaboration/replies.ts'
import type { FileChange } from '../../contract/session-file/outputs.ts'
import { developerFromProse } from '../../core/collaboration/read-crew-replies.ts'
import { selfReview } from '../../core/collaboration/required-checks.ts'
import { failureOfChecks, type TaskFailure, taskFailure } from '../../core/collaboration/task-failure.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow, FlowRoot } from '../../ports/durable.ts'
import type { WorkEnd } from '../../ports/workers.ts'
import type { Around, Attempt, Collected, Handling } from './carry-out.ts'
import { checkWork } from './check-work.ts'
import { fileChange } from './places.ts'

type Answer = {
  readonly attempt: Attempt
  readonly place: FlowRoot & { readonly taskId: string }
  readonly start: string
  readonly handling: Handling
  readonly end: WorkEnd
  readonly reply: DeveloperReply | undefined
}

type Judged = {
  readonly end: WorkEnd
  readonly said: DeveloperReply
  readonly files: readonly FileChange[]
  readonly failure: TaskFailure | undefined
}

/** What an answer is worth: what git shows of the work, and what its checks say when nothing else is wrong with it. */
export async function collectWork(around: Around, flow: Flow, answer: Answer): Promise<Judged> {
  const { attempt, place, start, end, reply } = answer
  const { task } = attempt.work
  const collected = await collect(flow, answer)
  const files = collected.files.map(fileChange)
  const said = spokenBy(end, reply)
  const failure = taskFailure({ end, reply, scope: task.scope, ...collected })
  const { commit } = collected
  // Where nothing has changed the checks would show what was there before.
  if (failure || said.status !== 'completed' || files.length === 0 || commit === null)
    return { end, said, files, failure }
  const checks = await checkWork(around, flow, { attempt, at: place, start, commit })
  return { end, said: checkedReply(said, task, checks), files, failure: failureOfChecks(checks) }
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

function checkedReply(said: DeveloperReply, task: PlanTask, checks: readonly CheckRun[]): DeveloperReply {
  const review = selfReview(said.self_review, { checks, isTestWanted: task.testing_required })
  return review ? { ...said, self_review: review } : said
}

function spokenBy(end: WorkEnd, reply: DeveloperReply | undefined): DeveloperReply {
  if (reply) return reply
  if (end.status === 'completed') return developerFromProse(end.text)
  return {
    status: 'failed',
    summary: end.text || (end.reason ?? ''),
    blockers: [end.reason ?? 'it did not finish'],
  }
}
