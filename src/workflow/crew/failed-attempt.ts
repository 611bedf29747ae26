import type { PlanTask } from '../../contract/collaboration/replies.ts'
import { failurePrompt, splitPrompt } from '../../core/collaboration/plan-prompts.ts'
import { type TaskSplit } from '../../core/collaboration/planned-work.ts'
import { readFailureReply, readSplit } from '../../core/collaboration/read-crew-replies.ts'
import { withAttempt } from '../../core/delegation/developer-work.ts'
import { afterFailure, failureWords } from '../../core/delegation/task-failure.ts'
import { askAgent, type Question } from '../../engine/delegation/ask-agent.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow } from '../../ports/durable.ts'
import type { Around, Attempt, Attempted } from './carry-out.ts'
import { developerMs, type Someone, workerOf } from './crew-parts.ts'
import { folderOf, treeOf } from './places.ts'

/** What is done about an attempt that failed: another one, or smaller tasks; nothing when it stays as it is. */
export type AfterAttempt = { readonly again: Attempt } | { readonly split: TaskSplit } | undefined

type Deciding = Around & {
  readonly flow: Flow
  readonly planner: Someone | undefined
  readonly round: number
}

type Failed = {
  readonly attempt: Attempt
  readonly result: Attempted
  /** All tasks of the round as they are now, and every name that was ever given. */
  readonly tasks: readonly PlanTask[]
  readonly taken: readonly string[]
  /** Somebody who has not tried it. */
  readonly another: Someone
}

/** Decides about a failed attempt: the architect where there is one, else the rules. */
export async function afterAttempt(deciding: Deciding, failed: Failed): Promise<AfterAttempt> {
  const { flow, at, planner, talk } = deciding
  const { attempt, result } = failed
  const { failure, state } = result
  if (!failure) return undefined
  const { task } = attempt.work
  const key = `r${deciding.round}-${task.task_id}-${attempt.number}`
  const error = failureWords(failure)
  const prompt = failurePrompt({ task, kind: failure.kind, attempt: attempt.number, error })
  const asked = await askArchitect(deciding, {
    name: `failure-${key}`,
    prompt,
    read: readFailureReply,
    resultSchema: 'reply:failure',
  })
  const next = afterFailure({
    kind: failure.kind,
    attempt: attempt.number,
    limitMs: attempt.timeoutMs,
    scope: task.scope,
    canSplit: planner !== undefined,
    ...(asked && { asked }),
  })
  await flow.step(`decide-${key}`, async ({ tell }) => {
    const { subject, choice, reason, candidates } = next.decision
    tell(
      draftOf({ ...at, actor: planner?.id ?? at.actor }, 'decision.made', {
        subject,
        choice,
        reason,
        candidates: [...candidates],
      }),
    )
  })
  await talk.callOff(flow, `call-off-${key}`, { taskId: task.task_id, reason: next.decision.reason })
  if (next.action === 'abort') return undefined
  const parts = next.action === 'split' ? await smaller(deciding, failed, key) : undefined
  if (parts) return { split: { task_id: task.task_id, parts } }
  return {
    again: {
      ...attempt,
      who: next.action === 'reassign' ? failed.another : attempt.who,
      work: withAttempt(attempt.work, state, `${next.feedback}: ${error}`),
      number: attempt.number + 1,
      timeoutMs: next.limitMs,
      start: result.start ?? attempt.start,
    },
  }
}

/** The parts of a task; nothing when the architect gives none that can be used, and it is tried as a whole. */
async function smaller(deciding: Deciding, failed: Failed, key: string): Promise<PlanTask[] | undefined> {
  const { tasks, taken, attempt, result } = failed
  const { task } = attempt.work
  const known = new Set(tasks.map(({ task_id }) => task_id))
  const limits = {
    maxTasks: deciding.input.crew.limits.maxTasks,
    taken: [task.task_id, ...taken.filter((id) => !known.has(id))],
  }
  const all = await askArchitect(deciding, {
    name: `split-${key}`,
    prompt: splitPrompt({ task, why: result.failure?.error ?? 'it failed', taken }),
    read: (text) => readSplit(text, { tasks, taskId: task.task_id, limits }),
    resultSchema: 'reply:plan',
  })
  return all?.filter(({ task_id }) => !known.has(task_id))
}

async function askArchitect<T>(
  { parts, flow, at, planner, input }: Deciding,
  asked: Pick<Question<T>, 'name' | 'prompt' | 'read' | 'resultSchema'>,
): Promise<T | undefined> {
  if (!planner) return undefined
  const folder = folderOf(input, treeOf(parts.worktrees, flow.id, 'all'))
  const { reply } = await askAgent(parts, flow, {
    at,
    question: { ...asked, who: workerOf(planner), folder, timeoutMs: developerMs(input) },
  })
  return reply
}
