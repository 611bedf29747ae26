import type { TaskState } from '../../contract/collaboration/crew-report.ts'
import type { DeveloperReply } from '../../contract/collaboration/replies.ts'
import type { DeveloperOutput, FileChange } from '../../contract/formats/std-008/developer.ts'
import { suggestedAction } from '../../core/collaboration/after-failure.ts'
import { developerPrompt } from '../../core/collaboration/prompts/developer-prompt.ts'
import { developerFromProse, readDeveloper } from '../../core/collaboration/replies/read-developer.ts'
import { type TaskFailure, taskFailure } from '../../core/collaboration/task-failure.ts'
import { developerInput, developerOutput, type Work } from '../../core/collaboration/work.ts'
import { derivedSpan } from '../../core/session-log/derived-ids.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { FlowRoot, Procedure } from '../../ports/durable.ts'
import type { WorkEnd } from '../../ports/workers.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import { agentWork } from './agent-work.ts'
import type { Conversation } from './conversation.ts'
import type { CrewInput, CrewParts, Someone } from './crew-parts.ts'
import { fileChange, folderOf } from './places.ts'
import { whileReporting } from './report-progress.ts'

/** One attempt at a task. */
export type Attempt = {
  readonly work: Work
  readonly number: number
  readonly who: Someone
  readonly timeoutMs: number
  readonly worktree: { readonly path: string; readonly branch: string; readonly base: string }
  /** Branches whose work it needs. */
  readonly needs: readonly string[]
  readonly checks: readonly string[]
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
export const carryOut = (
  { parts, input, talk, orchestrator, opened, at }: Around,
  handling: Handling,
): Procedure<Attempt, Attempted> => ({
  name: 'task',
  version: '1',
  async run(flow, attempt) {
    const { work, who, number, worktree } = attempt
    const { task } = work
    const given = developerInput(work)
    talk.join({ agentId: who.id, agentType: who.member.role })
    const place = { ...flow.root(), spanId: derivedSpan(`${flow.id} task`), taskId: task.task_id }
    const { branch } = worktree
    opened.set(task.task_id, { branch })
    const begun = await flow.step('open', ({ signal }) => handling.open(attempt, signal))
    const start = attempt.start ?? begun
    opened.set(task.task_id, { branch, collect: (signal) => handling.collect(attempt, start, signal) })
    const assigned = await talk.say(flow, 'assign', {
      utterance: {
        from: orchestrator,
        to: who.id,
        type: 'task_assignment',
        payload: { task: given, priority: task.priority, max_iterations: input.crew.limits.maxIterations },
      },
      facts: [
        draftOf({ ...place, parentSpanId: at.spanId }, 'agent.task.assigned', {
          taskId: task.task_id,
          description: given.task_description,
          priority: task.priority,
          dependencies: task.depends_on.map(({ task_id }) => task_id),
          agentId: who.id,
          assignedBy: orchestrator,
          input: given,
        }),
      ],
    })
    await talk.say(flow, 'acknowledge', {
      utterance: {
        from: who.id,
        to: orchestrator,
        type: 'acknowledgment',
        payload: { acknowledged_message_id: assigned, accepted: true },
      },
    })
    const { end, reply } = await whileReporting(
      { parts, talk, flow, input },
      { attempt, orchestrator, start },
      () =>
        agentWork(parts, flow, {
          at: place,
          work: {
            name: 'agent',
            who,
            prompt: developerPrompt({ input: given, checks: attempt.checks }),
            read: readDeveloper,
            folder: folderOf(input, worktree.path),
            scope: task.scope,
            timeoutMs: attempt.timeoutMs,
            taskId: task.task_id,
            about: task.title,
          },
        }),
    )
    const collected = await flow.step('collect', async ({ signal, tell }) => {
      const found = await handling.collect(attempt, start, signal)
      if (found.files.length > 0)
        tell(
          draftOf({ ...place, actor: who.id }, 'patch.created', {
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
    const files = collected.files.map(fileChange)
    const failure = taskFailure({ end, reply, scope: task.scope, ...collected })
    const said = spokenBy(end, reply)
    const state = failure ? (failure.kind === 'timeout' ? 'partial' : 'failed') : said.status
    const output = developerOutput(task.task_id, { ...said, status: state }, files)
    await talk.say(flow, 'complete', {
      utterance: { from: who.id, to: orchestrator, type: 'task_completion', payload: output },
      facts: [
        failure
          ? draftOf({ ...place, actor: who.id }, 'task.failed', {
              agentId: who.id,
              reason: failure.error.replaceAll(/\s+/g, ' ').slice(0, 1000),
              errorType: failure.kind,
              recoverable: true,
              suggestedAction: suggestedAction(failure.kind, number),
            })
          : draftOf({ ...place, actor: who.id }, 'task.completed', {
              agentId: who.id,
              summary: output.summary.slice(0, 2000),
              output,
            }),
      ],
    })
    return { state, start, output, files, durationMs: end.durationMs, ...(failure && { failure }) }
  },
})

function spokenBy(end: WorkEnd, reply: DeveloperReply | undefined): DeveloperReply {
  if (reply) return reply
  if (end.status === 'completed') return developerFromProse(end.text)
  return {
    status: 'failed',
    summary: end.text || (end.reason ?? ''),
    blockers: [end.reason ?? 'it did not finish'],
  }
}
