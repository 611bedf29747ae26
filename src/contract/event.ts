import * as z from 'zod'
import type { EventDefinition } from './event-definition.ts'
import { agentEvents } from './events/agent.ts'
import { journalEvents } from './events/journal.ts'
import { messageEvents } from './events/message.ts'
import { progressEvents } from './events/progress.ts'
import { sessionEvents } from './events/session.ts'
import { toolEvents } from './events/tool.ts'
import { workflowEvents } from './events/workflow.ts'
import { EventId, RunId, SessionId, SpanId, TraceId } from './ids.ts'
import { Count, Line, Timestamp } from './values.ts'

/** Every event type there is. Adding one here makes every incomplete table a compile error. */
export const catalogue = {
  ...sessionEvents,
  ...progressEvents,
  ...agentEvents,
  ...toolEvents,
  ...messageEvents,
  ...workflowEvents,
  ...journalEvents,
}

export type Catalogue = typeof catalogue

export type EventType = keyof Catalogue

export const eventTypes = Object.keys(catalogue) as EventType[]

/** The words of `sm events`. */
export const eventWords: readonly string[] = [
  ...new Set(Object.values<EventDefinition>(catalogue).flatMap(({ sm }) => sm?.words ?? [])),
].toSorted()

/** The version written now; older shapes are lifted by an upcaster when read. */
export const schemaVersion = '1'

/** Who sent an event and which of theirs it is; a repeat of (id, epoch, n) is harmless. */
export const ProducerStamp = z.strictObject({
  id: z.string().min(1).max(200),
  epoch: Count,
  n: z.int().positive(),
})

export type ProducerStamp = z.infer<typeof ProducerStamp>

/**
 * Who stands behind an event, as the daemon proved it; nobody else writes this. Without `via` the daemon wrote it: by
 * itself, or because this person or session asked for it.
 */
export const By = z.strictObject({
  kind: z.enum(['daemon', 'operator', 'session']),
  /** Which session; of a person, by which channel. */
  id: Line.optional(),
  /** How others brought it. Then it is a report: it is shown, and nothing is decided by it. */
  via: z.enum(['report', 'hook', 'transcript', 'import']).optional(),
})
export type By = z.infer<typeof By>

/** Whether others brought an event: a report decides nothing. */
export const isReport = ({ by }: { readonly by?: By | undefined }): boolean => by?.via !== undefined

/** Whether a caller said it outright; into hooks and records the daemon looks itself. */
export const isTold = ({ by }: { readonly by?: By | undefined }): boolean =>
  by?.via === 'report' || by?.via === 'import'

const who = {
  traceId: TraceId,
  spanId: SpanId,
  parentSpanId: SpanId.optional(),
  sessionId: SessionId,
  runId: RunId,
  taskId: Line.optional(),
  actor: Line.min(1),
  workflowId: Line.optional(),
  phase: Line.optional(),
  parentRunId: RunId.optional(),
  causeId: EventId.optional(),
} as const

/** What a caller says of an event; the engine adds id, seq and times, the journal writes it. */
export const DraftEnvelope = z.strictObject({
  ...who,
  id: EventId.optional(),
  type: z.enum(eventTypes as [EventType, ...EventType[]]),
  timestamp: Timestamp.optional(),
  payload: z.unknown(),
})

/** A line of the journal without its payload's shape, which `catalogue` has by type. */
export const EventEnvelope = z.strictObject({
  seq: z.int().positive(),
  id: EventId,
  ...who,
  type: z.enum(eventTypes as [EventType, ...EventType[]]),
  timestamp: Timestamp,
  recordedAt: Timestamp,
  schemaVersion: z.literal(schemaVersion),
  /** Missing in journals of before it was written: such an event grants nothing. */
  by: By.optional(),
  producer: ProducerStamp.optional(),
  redacted: z.array(z.string()).optional(),
  payload: z.unknown(),
})

type Envelope = Omit<z.infer<typeof EventEnvelope>, 'type' | 'payload'>

export type PayloadOf<T extends EventType> = z.output<Catalogue[T]['payload']>

/** One fact of type T as it stands in the journal. */
export type EventOf<T extends EventType> = T extends EventType
  ? Envelope & { type: T; payload: PayloadOf<T> }
  : never

/** One fact; the union over every type. */
export type AgentEvent = EventOf<EventType>

/** An event that nobody reported: the daemon wrote it, or it is of a journal of before, where nobody could tell. */
export type Fact = AgentEvent & { readonly by?: (By & { readonly via?: undefined }) | undefined }

/** An event that no caller told: a fact, or what the daemon saw in a hook or a record. */
export type Observed = AgentEvent & {
  readonly by?: (By & { readonly via?: 'hook' | 'transcript' | undefined }) | undefined
}

export const isFact = (event: AgentEvent): event is Fact => !isReport(event)

export const isObserved = (event: AgentEvent): event is Observed => !isTold(event)

/** What a decision produces, before the engine gives it id, seq and times. */
export type DraftOf<T extends EventType> = T extends EventType
  ? Omit<z.output<typeof DraftEnvelope>, 'type' | 'payload'> & {
      type: T
      payload: PayloadOf<T>
      by?: By | undefined
    }
  : never

export type Draft = DraftOf<EventType>

/** The type of a journal line without parsing it: no string before the payload can hold this text unescaped. */
export function typeOfLine(line: string): string {
  const at = line.indexOf('"type":"') + 8
  return line.slice(at, line.indexOf('"', at))
}

/** A batch of proposed events. With a producer, item i is the producer's number `n + i`, and a repeat is harmless. */
export const AppendRequest = z.strictObject({
  producer: z
    .strictObject({ id: z.string().min(1).max(200), epoch: Count, n: z.int().positive() })
    .optional(),
  /** They come from another journal: kept as they are, of sessions that Muster does not run. Only a person may. */
  history: z.boolean().optional(),
  /** Each item is a draft event; an item that does not fit is rejected alone. */
  events: z.array(z.unknown()).min(1).max(10_000),
})

/** What became of one item. */
export const AppendResult = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('appended'), seq: z.int().positive(), id: EventId }),
  z.strictObject({ status: z.literal('duplicate') }),
  z.strictObject({ status: z.literal('rejected'), code: z.string(), message: z.string() }),
])

export type AppendResult = z.infer<typeof AppendResult>

export const AppendResponse = z.strictObject({ results: z.array(AppendResult) })
