import * as z from 'zod'
import { type AgentEvent, catalogue, type EventType, eventTypes } from '../../src/contract/event.ts'
import type { EventId, RunId, SessionId, SpanId, TraceId } from '../../src/contract/ids.ts'

const base32 = (n: number) =>
  n
    .toString(32)
    .replaceAll(/[ilou]/g, 'z')
    .padStart(26, '0')

/** The n-th session of the tests. */
export const sampleSession = (n: number) => `ses_${base32(n)}` as SessionId
export const sampleRun = (n: number) => `run_${base32(n)}` as RunId

/** An event of a type with the least its payload must have. */
export function sampleEvent<T extends EventType>(type: T, given: Partial<Omit<AgentEvent, 'seq'>> = {}) {
  return {
    id: `evt_${base32(1)}` as EventId,
    traceId: '1'.repeat(32) as TraceId,
    spanId: '2'.repeat(16) as SpanId,
    sessionId: sampleSession(1),
    runId: sampleRun(1),
    actor: 'architect',
    timestamp: '2026-01-27T10:00:00.000Z',
    recordedAt: '2026-01-27T10:00:00.001Z',
    schemaVersion: '1',
    type,
    payload: structuredClone(leastPayload(type)),
    ...given,
  } as unknown as Omit<AgentEvent, 'seq'>
}

/** One event of every type there is. */
export const everySample = () => eventTypes.map((type) => sampleEvent(type))

const known = new Map<EventType, unknown>()

function leastPayload(type: EventType): unknown {
  if (!known.has(type))
    known.set(type, least(z.toJSONSchema(catalogue[type].payload, { unrepresentable: 'any' }) as Schema))
  return known.get(type)
}

type Schema = {
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  pattern?: string
  format?: string
  minimum?: number
  exclusiveMinimum?: number
}

function least(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf?.[0]) return least(schema.anyOf[0])
  switch (schema.type ?? 'any') {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, least(schema.properties?.[name] ?? {})]),
      )
    case 'array':
      return []
    case 'string':
      return schema.format === 'date-time' ? '2026-01-27T10:00:00.000Z' : 'text'
    case 'integer':
    case 'number':
      return schema.exclusiveMinimum === undefined ? (schema.minimum ?? 0) : schema.exclusiveMinimum + 1
    case 'boolean':
      return true
    default:
      return 'anything'
  }
}
