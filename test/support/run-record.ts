import { expect } from 'vitest'
import type { WireEvent } from '../../src/contract/routes.ts'

type Kind = { readonly begins: string; readonly ends: readonly string[] }

const kinds: readonly Kind[] = [
  {
    begins: 'agent.spawned',
    ends: ['agent.completed', 'agent.failed', 'agent.cancelled', 'agent.killed', 'agent.abandoned'],
  },
  { begins: 'llm.request.started', ends: ['llm.request.completed', 'llm.request.failed'] },
  { begins: 'tool.call.started', ends: ['tool.call.completed', 'tool.call.failed', 'tool.call.denied'] },
]

const runEnds: readonly string[] = kinds[0]?.ends ?? []

/** Ends of runs, in their order. */
export const runEndsOf = (events: readonly WireEvent[]): WireEvent[] =>
  events.filter(({ type }) => runEnds.includes(type))

/** Whether all that began has an end, by now. */
export const isAtRest = (events: readonly WireEvent[]): boolean =>
  events.some(({ type }) => type === 'agent.spawned') && unbalanced(events).length === 0

/** Runs, model calls and tool calls that have no end or more than one, or an end without a beginning. */
export function unbalanced(events: readonly WireEvent[]): string[] {
  return kinds.flatMap(({ begins, ends }) => {
    const counts = new Map<string, number>()
    const begun = events.filter(({ type }) => type === begins).map(({ spanId }) => spanId)
    for (const spanId of begun) counts.set(spanId, 0)
    for (const { type, spanId } of events)
      if (ends.includes(type)) counts.set(spanId, (counts.get(spanId) ?? Number.NaN) + 1)
    return [...counts].filter(([, n]) => n !== 1).map(([spanId, n]) => `${begins} ${spanId}: ${n} ends`)
  })
}

/** The payloads of all events of a type. */
export const told = (events: readonly WireEvent[], type: string): Record<string, unknown>[] =>
  events.filter((event) => event.type === type).map(({ payload }) => payload as Record<string, unknown>)

/** Every run, model call and tool call has exactly one end. */
export const expectOneEndEach = (events: readonly WireEvent[]): void => expect(unbalanced(events)).toEqual([])
