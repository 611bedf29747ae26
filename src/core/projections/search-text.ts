import type { AgentEvent, EventOf } from '../../contract/event.ts'
import type { SearchText } from '../../contract/search-text.ts'
import { filesOf } from '../../contract/tool-subject.ts'
import { type Handlers, handle } from './handlers.ts'
import { endStatus } from './span-end.ts'
import { clip, plainText } from './text.ts'
import { titleOf } from './title.ts'

/** Characters of one event that can be found: as much as a preview holds, whatever lies in a blob or the vault. */
export const searchLimit = 2048

/** What of an event a person may look for; undefined when it says nothing in words. */
export function searchText(event: AgentEvent): SearchText | undefined {
  const said = handle(texts, event, 0)
  if (said === undefined) return undefined
  const title = titleOf(event) ?? ''
  const body = clip(plainText(said, searchLimit), searchLimit)
  if (title === '' && body === '') return undefined
  return { title, body, ...facets(event) }
}

function facets(event: AgentEvent): Pick<SearchText, 'tool' | 'files' | 'status'> {
  const { tool } = event.payload as { tool?: unknown }
  const files = handle(fileLists, event, 0) ?? []
  const status = handle(outcomes, event, 0)
  return {
    ...(typeof tool === 'string' && { tool }),
    ...(files.length > 0 && { files: files.slice(0, 50).join(' ').slice(0, searchLimit) }),
    ...(status !== undefined && { status }),
  }
}

const fileLists: Handlers<string[]> = {
  'tool.call.started': ({ payload }) => filesOf(payload.params),
  'patch.created': ({ payload }) => payload.files.map((file) => file.path),
  'verifier.issue.found': ({ payload }) => (payload.file === undefined ? [] : [payload.file]),
  'result.summary': ({ payload }) => [...(payload.filesCreated ?? []), ...(payload.filesModified ?? [])],
}

const ended = (event: AgentEvent): string => endStatus(event)
const outcomes: Handlers<string> = {
  'session.completed': ended,
  'session.failed': ended,
  'agent.completed': ended,
  'agent.failed': ended,
  'agent.cancelled': ended,
  'agent.killed': ended,
  'agent.abandoned': ended,
  'task.completed': ended,
  'task.failed': ended,
  'task.cancelled': ended,
  'tool.call.completed': ended,
  'tool.call.failed': ended,
  'tool.call.denied': ended,
  'llm.request.failed': ended,
  'message.failed': ended,
  'approval.granted': ended,
  'approval.rejected': ended,
  'approval.expired': ended,
  'workflow.finalized': ended,
  'workflow.failed': ended,
  'test.passed': () => 'ok',
  'test.failed': () => 'error',
}

type AgentEnd = EventOf<
  'agent.completed' | 'agent.failed' | 'agent.cancelled' | 'agent.killed' | 'agent.abandoned'
>
const agentEnd = ({ payload: p }: AgentEnd): unknown => [p.agentId, p.reason, p.detail, p.output]

// What is not here has no words of its own: signals, states, counters, receipts, nodes of a workflow.
const texts: Handlers<unknown> = {
  'session.started': ({ payload: p }) => [p.name, p.title, p.prompt, p.description, p.workingDir, p.model],
  'session.updated': ({ payload: p }) => [p.friendlyName, p.task],
  'limit.refused': ({ payload: p }) => [p.what, p.limit],
  'session.completed': ({ payload: p }) => [p.message, p.reason],
  'session.failed': ({ payload: p }) => [p.message, p.error, p.reason],
  'session.annotated': ({ payload: p }) => [p.phaseType, p.description, p.decisions],
  'progress.checkpoint': ({ payload: p }) => [p.message, p.metadata, p.commit],
  'result.summary': ({ payload: p }) => [p.summary, p.errorsEncountered],
  'context.compacted': ({ payload: p }) => [p.summary],
  'agent.spawned': ({ payload: p }) => [p.agentId, p.agentType, p.agentTask, p.task?.description],
  'agent.completed': agentEnd,
  'agent.failed': (event) => [agentEnd(event), event.payload.error],
  'agent.cancelled': agentEnd,
  'agent.killed': agentEnd,
  'agent.abandoned': agentEnd,
  'agent.waiting': ({ payload: p }) => [p.question, p.options],
  'agent.task.assigned': ({ payload: p }) => [p.taskId, p.description, p.input],
  'task.completed': ({ payload: p }) => [p.summary, p.output],
  'task.failed': ({ payload: p }) => [p.reason, p.error],
  'task.cancelled': ({ payload: p }) => [p.reason],
  'handoff.requested': ({ payload: p }) => [p.reason, p.context],
  'handoff.rejected': ({ payload: p }) => [p.reason],
  'plan.created': ({ payload: p }) => [p.plan, p.tasks],
  'decision.made': ({ payload: p }) => [p.choice, p.reason, p.candidates],
  'retry.scheduled': ({ payload: p }) => [p.what, p.reason],
  'blackboard.item.created': ({ payload: p }) => [p.itemId, p.content],
  'blackboard.item.updated': ({ payload: p }) => [p.itemId, p.content],
  'tool.call.started': ({ payload: p }) => [p.rawCommand, p.description, p.params],
  'tool.call.completed': ({ payload: p }) => [p.result, p.error],
  'tool.call.failed': ({ payload: p }) => [p.reason, p.error, p.result],
  'tool.call.denied': ({ payload: p }) => [p.reason, p.rule],
  'llm.request.failed': ({ payload: p }) => [p.error],
  'patch.created': ({ payload: p }) => [p.commit, p.files.map((file) => file.path), p.diff],
  'test.passed': ({ payload: p }) => [p.command, p.output],
  'test.failed': ({ payload: p }) => [p.command, p.output],
  'agent.message.created': ({ payload: p }) => [p.text, p.payload],
  'message.queued': ({ payload: p }) => [p.preview],
  'message.failed': ({ payload: p }) => [p.reason, p.detail],
  'approval.requested': ({ payload: p }) => [p.action, p.reason, p.scope, p.diff, p.rollback],
  'approval.granted': ({ payload: p }) => [p.reason, p.answer],
  'approval.rejected': ({ payload: p }) => [p.reason],
  'approval.expired': ({ payload: p }) => [p.reason],
  'workflow.created': ({ payload: p }) => [p.name, p.workflowId, p.phases, p.script],
  'workflow.finalized': ({ payload: p }) => [p.result],
  'workflow.failed': ({ payload: p }) => [p.error, p.reason],
  'claim.verified': ({ payload: p }) => [p.findingId, p.evidence],
  'verifier.issue.found': ({ payload: p }) => [p.description, p.suggestion, p.rationale, p.file],
}
