import type { AgentEvent } from '../../contract/event.ts'

/** The workflow an event belongs to: its envelope says so, or its payload does. */
export function workflowOf(event: AgentEvent): string | undefined {
  if (event.workflowId !== undefined) return event.workflowId
  const { workflowId } = event.payload as { workflowId?: unknown }
  return typeof workflowId === 'string' ? workflowId : undefined
}

/** The phase an event belongs to: its envelope says so, or its payload does. */
export function phaseOf(event: AgentEvent): string | undefined {
  if (event.phase !== undefined) return event.phase
  const { phase } = event.payload as { phase?: unknown }
  return typeof phase === 'string' ? phase : undefined
}
