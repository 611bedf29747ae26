import type { TaskState } from '../../contract/collaboration/crew-report.ts'
import type { PlanTask } from '../../contract/collaboration/plan.ts'
import { afterFailure } from '../../core/collaboration/after-failure.ts'
import { nextTasks } from '../../core/collaboration/next-tasks.ts'
import { failurePrompt } from '../../core/collaboration/prompts/failure-prompt.ts'
import { readFailureReply } from '../../core/collaboration/replies/read-failure-reply.ts'
import { rootTask } from '../../core/collaboration/revise.ts'
import { tried, type Work } from '../../core/collaboration/work.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Child, Flow } from '../../ports/durable.ts'
import { agentWork } from './agent-work.ts'
import type { Around, Attempt, Attempted } from './carry-out.ts'
import { developerMs, type Someone } from './crew-parts.ts'
import { develop } from './develop.ts'
import { branchOf, treeOf } from './places.ts'

/** What a task came to in the end. */
export type TaskResult = Attempted & { readonly attempts: number; readonly branch: string }

/** All tasks of a round. */
export type Delegated = {
  readonly results: ReadonlyMap<string, TaskResult>
  readonly states: Readonly<Record<string, TaskState>>
  /** Tasks that never began, and why. */
  readonly blocked: readonly { readonly task_id: string; readonly because: string }[]
}

type Delegating = Around & {
  readonly flow: Flow
  readonly round: number
  readonly work: readonly Work[]
  /** The commit that the tasks of this round begin at. */
  readonly base: string
  readonly developers: readonly Someone[]
  /** Every task of the collaboration, by the name that it has in its plan. */
  readonly order: readonly string[]
  readonly planner: Someone | undefined
  readonly checks: readonly string[]
}

type Underway = { readonly child: Child<Attempted>; readonly attempt: Attempt }

/** Hands out the tasks of a round: side by side where nothing forbids it, each tried again as the rules allow. */
export async function delegate(delegating: Delegating): Promise<Delegated> {
  const { flow, work } = delegating
  const tasks = work.map(({ task }) => task)
  const states: Record<string, TaskState> = {}
  const results = new Map<string, TaskResult>()
  const running = new Map<string, Underway>()
  const begin = (attempt: Attempt) => {
    const name = `r${delegating.round}/${attempt.work.task.task_id}#${attempt.number}`
    const child = flow.child(name, develop(delegating), attempt)
    running.set(child.id, { child, attempt })
    states[attempt.work.task.task_id] = 'running'
  }
  for (;;) {
    const { start, blocked } = nextTasks({ tasks, states, atOnce: atOnce(delegating) })
    for (const id of start) {
      const own = work.find(({ task }) => task.task_id === id)
      if (own) begin(firstAttempt(delegating, own))
    }
    if (running.size === 0) return { results, states, blocked }
    const first = await flow.waitFirst([...running.values()].map(({ child }) => child))
    const done = running.get(first.id)
    if (!done) continue
    running.delete(first.id)
    const { attempt } = done
    const { task_id } = attempt.work.task
    const result = await first.result().catch((error: unknown) => broken(attempt, error))
    const again = result.failure && (await tryAgain(delegating, attempt, result))
    if (again) {
      begin(again)
      continue
    }
    states[task_id] = result.state
    results.set(task_id, { ...result, attempts: attempt.number, branch: attempt.worktree.branch })
  }
}

const atOnce = ({ input, developers }: Delegating): number =>
  Math.min(
    input.crew.limits.maxParallel,
    developers.reduce((sum, { member }) => sum + Math.max(1, member.count), 0),
  )

function firstAttempt(delegating: Delegating, work: Work): Attempt {
  const { flow, parts, base, input } = delegating
  const { task } = work
  const path = treeOf(parts.worktrees, flow.id, task.task_id)
  return {
    work,
    number: 1,
    who: developerFor(delegating, task),
    timeoutMs: developerMs(input),
    worktree: { path, branch: branchOf(flow.id, task), base },
    needs: task.depends_on
      .filter(
        ({ type, task_id }) => type === 'hard' && delegating.work.some((one) => one.task.task_id === task_id),
      )
      .map(({ task_id }) => branchOf(flow.id, { task_id })),
    checks: delegating.checks,
  }
}

/** Each task has its developer, and a revision goes to whoever did it before. */
function developerFor({ developers, order }: Delegating, task: PlanTask): Someone {
  const n = Math.max(0, order.indexOf(rootTask(task.task_id)))
  const chosen = developers[n % developers.length]
  if (!chosen) throw new Error('a crew without developers has no tasks to hand out')
  return { ...chosen, id: `${chosen.id}-${n + 1}` }
}

/** A step that threw: the work tree could not be made, or what it needs does not fit together. */
function broken({ work }: Attempt, error: unknown): Attempted {
  const text = error instanceof Error ? error.message : String(error)
  const output = {
    task_id: work.task.task_id,
    status: 'failed' as const,
    changes: { files_created: [], files_modified: [], files_deleted: [] },
    summary: text,
  }
  return { state: 'failed', output, files: [], durationMs: 0, failure: { kind: 'exception', error: text } }
}

/** The next attempt at a task that failed, when there is to be one; the architect is asked where there is one. */
async function tryAgain(
  delegating: Delegating,
  attempt: Attempt,
  { failure, state }: Attempted,
): Promise<Attempt | undefined> {
  const { flow, at, planner, parts, input } = delegating
  if (!failure) return undefined
  const { task } = attempt.work
  const key = `r${delegating.round}-${task.task_id}-${attempt.number}`
  const asked =
    planner &&
    (await agentWork(parts, flow, {
      at,
      work: {
        name: `failure-${key}`,
        who: planner,
        prompt: failurePrompt({ task, kind: failure.kind, attempt: attempt.number, error: failure.error }),
        read: readFailureReply,
        folder: input.repo.root,
        timeoutMs: developerMs(input),
      },
    }))
  const next = afterFailure({
    kind: failure.kind,
    attempt: attempt.number,
    limitMs: attempt.timeoutMs,
    scope: task.scope,
    ...(asked?.reply && { asked: asked.reply }),
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
  if (next.action === 'abort') return undefined
  return {
    ...attempt,
    work: tried(attempt.work, state, `${next.feedback}: ${failure.error}`),
    number: attempt.number + 1,
    timeoutMs: next.limitMs,
  }
}
