import type { AgentEvent } from '../../contract/event.ts'

/** The workflow and phase an event belongs to: its envelope says so, or its payload does. */
export function placeOf(event: AgentEvent): { workflowId: string | undefined; phase: string | undefined } {
  return {
    workflowId: event.workflowId ?? named(event.payload, 'workflowId'),
    phase: event.phase ?? named(event.payload, 'phase'),
  }
}

function named(payload: object, field: string): string | undefined {
  const value = (payload as Record<string, unknown>)[field]
  return typeof value === 'string' ? value : undefined
}
