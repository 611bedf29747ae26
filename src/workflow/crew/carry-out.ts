import type { TaskState } from '../../contract/collaboration/crew-report.ts'
import { derivedSpan } from '../../contract/derived-ids.ts'
import type { DeveloperOutput, FileChange } from '../../contract/session-file/outputs.ts'
import { assignmentPrompt } from '../../core/delegation/assignment.ts'
import {
  acknowledgment,
  assignedFact,
  assignmentMessage,
  completedFact,
  endMessage,
  failedFact,
} from '../../core/delegation/delegation-facts.ts'
import { developerInput, type Work } from '../../core/delegation/developer-work.ts'
import { readDeveloper } from '../../core/delegation/read-work-replies.ts'
import type { RequiredCheck } from '../../core/delegation/required-checks.ts'
import type { TaskFailure } from '../../core/delegation/task-failure.ts'
import { askAgent } from '../../engine/delegation/ask-agent.ts'
import type { Conversation } from '../../engine/delegation/conversation.ts'
import { whileReporting } from '../../engine/delegation/report-progress.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import { type FlowRoot, LimitReached, type Procedure } from '../../ports/durable.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import { brokenAttempt } from './broken-attempt.ts'
import { collectWork } from './collect-work.ts'
import { type CrewInput, type CrewParts, type Someone, workerOf } from './crew-parts.ts'
import { folderOf } from './places.ts'

/** One attempt at a task. */
export type Attempt = {
  readonly work: Work
  readonly number: number
  readonly who: Someone
  readonly timeoutMs: number
  readonly worktree: { readonly path: string; readonly branch: string; readonly base: string }
  /** Branches whose work it needs. */
  readonly needs: readonly string[]
  /** The commands that the whole work will be checked with. */
  readonly checks: readonly RequiredCheck[]
  /** Where the first attempt began: what came of all of them together is the work. */
  readonly start?: string | undefined
}

/** What came of an attempt. */
export type Attempted = {
  readonly start?: string
  readonly state: Extract<TaskState, 'completed' | 'partial' | 'failed'>
  readonly output: DeveloperOutput
  readonly files: readonly FileChange[]
  readonly failure?: TaskFailure
  readonly durationMs: number
}

/** A task that was begun: where its work is, and how it is taken from there while somebody is at it. */
export type Opened = {
  readonly branch: string
  readonly collect?: (signal: AbortSignal) => Promise<Collected>
}

/** What an attempt gets from the collaboration that it is a part of. */
export type Around = {
  readonly parts: CrewParts
  readonly input: CrewInput
  readonly talk: Conversation
  readonly orchestrator: string
  readonly opened: Map<string, Opened>
  /** The node that it hangs under. */
  readonly at: FlowRoot
}

/** How the place of a task is made ready, and how its work is taken from there. */
export type Handling = {
  /** Answers the commit that the task begins at. */
  readonly open: (attempt: Attempt, signal: AbortSignal) => Promise<string>
  readonly collect: (attempt: Attempt, start: string, signal: AbortSignal) => Promise<Collected>
}

/** What git shows of the work. */
export type Collected = {
  readonly files: readonly ChangedFile[]
  /** What was changed though it may not be; it was put back. */
  readonly outside: readonly string[]
  /** What is still not as it should be. */
  readonly left: readonly string[]
  readonly commit: string | null
}

/** A developer at one task: told, done, collected from git, and reported whatever happened. */
export const carryOut = (around: Around, handling: Handling): Procedure<Attempt, Attempted> => ({
  name: 'task',
  version: '1',
  async run(flow, attempt) {
    const { parts, input, talk, orchestrator, opened, at } = around
    const { work, who, number, worktree } = attempt
    const { task } = work
    const given = developerInput(work, input)
    talk.join({ agentId: who.id, agentType: who.member.role })
    const place = { ...flow.root(), spanId: derivedSpan(`${flow.id} task`), taskId: task.task_id }
    const { branch } = worktree
    opened.set(task.task_id, { branch })
    const begun = await flow.step('open', ({ signal }) => handling.open(attempt, signal))
    const start = attempt.start ?? begun
    opened.set(task.task_id, { branch, collect: (signal) => handling.collect(attempt, start, signal) })
    const delegation = {
      assignment: { kind: 'developer', taskId: task.task_id, input: given },
      from: orchestrator,
      to: who.id,
      priority: task.priority,
      dependencies: task.depends_on.map(({ task_id }) => task_id),
      maxIterations: input.crew.limits.maxIterations,
    } as const
    const assigned = await talk.say(flow, 'assign', {
      utterance: assignmentMessage(delegation),
      facts: [
        draftOf({ ...place, parentSpanId: at.spanId }, 'agent.task.assigned', assignedFact(delegation)),
      ],
    })
    const acknowledge = () =>
      talk.say(flow, 'acknowledge', { utterance: acknowledgment(delegation, assigned) })
    const by = { ...place, actor: who.id }
    const report = (name: string, { output, failure }: Attempted) =>
      talk.say(flow, name, {
        utterance: endMessage(delegation, output),
        facts: [
          failure
            ? draftOf(by, 'task.failed', failedFact(who.id, failure, { attempt: number }))
            : draftOf(by, 'task.completed', completedFact(who.id, { summary: output.summary, output })),
        ],
      })
    let isAtWork = true
    const act = async (): Promise<Attempted> => {
      const answered = await askAgent(parts, flow, {
        at: place,
        question: {
          name: 'agent',
          who: workerOf(who),
          prompt: assignmentPrompt(delegation.assignment, { checks: attempt.checks }),
          read: readDeveloper,
          resultSchema: 'reply:developer',
          folder: folderOf(input, worktree.path),
          scopes: [task.scope],
          timeoutMs: attempt.timeoutMs,
          taskId: task.task_id,
          about: task.title,
          messageId: assigned,
          taken: acknowledge,
        },
      })
      isAtWork = false
      const outcome = await collectWork(around, flow, {
        attempt,
        assignment: delegation.assignment,
        place,
        start,
        handling,
        ...answered,
      })
      return { ...outcome, start, durationMs: answered.end.durationMs }
    }
    try {
      const done = await whileReporting(
        { clock: parts.clock, talk, steps: flow, onBug: parts.onBug },
        {
          taskId: task.task_id,
          from: orchestrator,
          to: who.id,
          everyMs: input.crew.limits.progressSeconds * 1000,
          isAtWork: () => isAtWork,
          async look(signal) {
            const { files, diff } = await parts.branches.changes(worktree.path, { from: start }, signal)
            return { files: files.map(({ path }) => path), sign: diff }
          },
        },
        act,
      )
      await report('complete', done)
      return done
    } catch (error) {
      if (flow.signal.aborted || error instanceof LimitReached) throw error
      // Who was given a task always reports on it, and what is there is built on by whoever tries again.
      const broken = brokenAttempt({ ...attempt, start }, error)
      await report('complete-broken', broken)
      return broken
    }
  },
})
