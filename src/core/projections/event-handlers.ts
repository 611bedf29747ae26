import type { AgentEvent, EventOf, EventType } from '../../contract/event.ts'

/** What a projection does with some types of events; the others do not concern it. */
export type Handlers<R> = { readonly [T in EventType]?: (event: EventOf<T>, atMs: number) => R }

/** Gives an event to the handler of its type, if there is one. */
export function handle<R>(handlers: Handlers<R>, event: AgentEvent, atMs: number): R | undefined {
  const handler = handlers[event.type] as ((event: AgentEvent, atMs: number) => R) | undefined
  return handler?.(event, atMs)
}

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
