import type { PlanTask } from '../../contract/collaboration/replies.ts'
import type { SpanId } from '../../contract/ids.ts'
import { failurePrompt, splitPrompt } from '../../core/collaboration/plan-prompts.ts'
import { type TaskSplit } from '../../core/collaboration/planned-work.ts'
import { readFailureReply, readSplit } from '../../core/collaboration/read-crew-replies.ts'
import { withAttempt } from '../../core/delegation/developer-work.ts'
import { afterFailure, failureWords } from '../../core/delegation/task-failure.ts'
import { askArchitect, recordDecision } from './ask-architect.ts'
import { type Someone } from './crew-parts.ts'
import type { CrewRun } from './crew-run.ts'
import type { Attempt, Attempted } from './crew-task.ts'

/** What is done about an attempt that failed: another one, or smaller tasks; nothing when it stays as it is. */
type AfterTask = { readonly again: Attempt } | { readonly split: TaskSplit } | undefined

type FailedTask = {
  readonly round: number
  /** The node that the tasks of the round hang under. */
  readonly nodeId: SpanId
  readonly attempt: Attempt
  readonly result: Attempted
  /** All tasks of the round as they are now, and every name that was ever given. */
  readonly tasks: readonly PlanTask[]
  readonly taken: readonly string[]
  /** Somebody who has not tried it. */
  readonly another: Someone
}

/** Decides about a failed attempt: the architect where there is one, else the rules. */
export async function afterFailedTask(crew: CrewRun, failed: FailedTask): Promise<AfterTask> {
  const { flow, planner, talk, orchestrator } = crew
  const { attempt, result } = failed
  const { failure, state } = result
  if (!failure) return undefined
  const { task } = attempt.work
  const key = `r${failed.round}-${task.task_id}-${attempt.number}`
  const error = failureWords(failure)
  const prompt = failurePrompt({ task, kind: failure.kind, attempt: attempt.number, error })
  const at = { ...flow.root(), spanId: failed.nodeId }
  const asked = await askArchitect(crew, at, {
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
    asked,
  })
  const { decision, isByRules } = next
  const by = isByRules ? undefined : orchestrator.agentId
  await recordDecision(crew, { name: `decide-${key}`, at, decision, by })
  await talk.callOff(flow, `call-off-${key}`, { taskId: task.task_id, reason: next.decision.reason })
  if (next.action === 'abort') return undefined
  const parts = next.action === 'split' ? await smaller(crew, failed, key) : undefined
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
async function smaller(crew: CrewRun, failed: FailedTask, key: string): Promise<PlanTask[] | undefined> {
  const { tasks, taken, attempt, result } = failed
  const { task } = attempt.work
  const known = new Set(tasks.map(({ task_id }) => task_id))
  const limits = {
    maxTasks: crew.input.crew.limits.maxTasks,
    taken: [task.task_id, ...taken.filter((id) => !known.has(id))],
  }
  const at = { ...crew.flow.root(), spanId: failed.nodeId }
  const asked = await askArchitect(crew, at, {
    name: `split-${key}`,
    prompt: splitPrompt({ task, why: result.failure?.error ?? 'it failed', taken }),
    read: (text) => readSplit(text, { tasks, taskId: task.task_id, limits }),
    resultSchema: 'reply:plan',
  })
  return asked && 'reply' in asked ? asked.reply.filter(({ task_id }) => !known.has(task_id)) : undefined
}
