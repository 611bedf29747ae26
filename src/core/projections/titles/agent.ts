import type { agentEvents } from '../../../contract/events/agent.ts'
import type { Titles } from '../title.ts'

/** Titles of what agents, tasks, hand-offs and shared notes do. */
export const agentTitles: Titles<keyof typeof agentEvents> = {
  'agent.spawned': ({ payload: p }) => [p.agentType, p.agentTask ?? p.task?.description],
  'agent.completed': ({ payload: p }) => [p.agentId, p.detail ?? p.reason],
  'agent.failed': ({ payload: p }) => [p.agentId, p.reason ?? p.error ?? p.detail],
  'agent.cancelled': ({ payload: p }) => [p.agentId, p.reason ?? p.detail],
  'agent.killed': ({ payload: p }) => [p.agentId, p.reason ?? p.detail],
  'agent.abandoned': ({ payload: p }) => [p.agentId, p.reason ?? p.detail],
  'agent.idle': ({ payload: p }) => [p.agentId, p.evidence],
  'agent.waiting': ({ payload: p }) => [p.agentId, p.waitsFor, p.question],
  'agent.status.changed': ({ payload: p }) => [p.status, p.detail],
  'agent.task.assigned': ({ payload: p }) => [p.taskId, '→', p.agentId, p.description],
  'task.completed': ({ taskId, payload: p }) => [taskId, p.summary],
  'task.failed': ({ taskId, payload: p }) => [taskId, p.reason ?? p.error ?? p.errorType],
  'task.cancelled': ({ taskId, payload: p }) => [taskId, p.reason],
  'handoff.requested': ({ payload: p }) => [p.from.agentId, '→', p.to.agentId, p.reason],
  'handoff.accepted': ({ payload: p }) => [p.from.agentId, '→', p.to.agentId, p.reason],
  'handoff.rejected': ({ payload: p }) => [p.from.agentId, '→', p.to.agentId, p.reason],
  'handoff.loop_detected': ({ payload: p }) => [p.cycle.slice(0, 20).join(' → '), p.count],
  'plan.created': ({ payload: p }) => [p.planId, p.plan],
  'decision.made': ({ payload: p }) => [p.subject, p.choice, p.reason],
  'retry.scheduled': ({ payload: p }) => [p.what, p.attempt, p.reason],
  'blackboard.item.created': ({ payload: p }) => [p.itemType, p.itemId, p.content],
  'blackboard.item.updated': ({ payload: p }) => [p.itemId, p.conflict ? 'conflict' : undefined, p.content],
}
