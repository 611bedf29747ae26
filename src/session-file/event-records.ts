import type { ImportIds } from '../contract/derived-ids.ts'
import type { Draft, DraftOf, EventOf, EventType, PayloadOf } from '../contract/event.ts'
import type { RunId, SpanId } from '../contract/ids.ts'
import { eventTime } from '../core/json/iso-time.ts'
import { isRecord, type JsonRecord, pointer, sameJson, setField, stepsOf } from '../core/json/json-value.ts'

/** What the rebuilding of a record needs of an event: when it was and what it says. */
export type Recorded<T extends EventType> = T extends EventType
  ? Pick<EventOf<T>, 'type' | 'timestamp' | 'payload'>
  : never

/** An event under construction: its type, its time as events write it, and its payload. */
export const recorded = <T extends EventType>(type: T, time: string, payload: PayloadOf<T>): Recorded<T> =>
  ({ type, timestamp: eventTime(time), payload }) as unknown as Recorded<T>

/** What a record had beyond what can be rebuilt from its events: other values, and fields it did not have. */
type Residue = { readonly fields?: JsonRecord; readonly absent?: readonly string[] }

/** What an import keeps in `raw`: the place of a record in its list, and what its events do not hold. */
type RawRecord = Residue & {
  readonly index?: number
  /** Only on the session: which format the file was in. */
  readonly format?: 'std-001' | 'std-008'
}

export const rawOf = (payload: { readonly raw?: JsonRecord | undefined }): RawRecord =>
  (payload.raw ?? {}) as RawRecord

type Rebuilding<T extends EventType> = {
  readonly record: object
  /** The record as its event alone gives it back. */
  readonly rebuild: (event: Recorded<T>) => object
  readonly place: Pick<RawRecord, 'index' | 'format'>
}

/** The event with what it does not say of its record in `raw`. */
export function withRaw<T extends EventType>(event: Recorded<T>, rebuilding: Rebuilding<T>): Recorded<T> {
  const { record, rebuild, place } = rebuilding
  const absent: string[] = []
  const pair = { original: record as JsonRecord, rebuilt: rebuild(event) as JsonRecord, path: [] }
  const fields = difference(pair, absent)
  const raw = {
    ...place,
    ...(Object.keys(fields).length > 0 ? { fields } : {}),
    ...(absent.length > 0 ? { absent } : {}),
  }
  return { ...event, payload: { ...event.payload, raw } }
}

type Pair = { readonly original: JsonRecord; readonly rebuilt: JsonRecord; readonly path: readonly string[] }

function difference({ original, rebuilt, path }: Pair, absent: string[]): JsonRecord {
  const fields: JsonRecord = {}
  for (const key of Object.keys(rebuilt))
    if (!Object.hasOwn(original, key)) absent.push(pointer([...path, key]))
  for (const [key, value] of Object.entries(original)) {
    const other = Object.hasOwn(rebuilt, key) ? rebuilt[key] : undefined
    if (Object.hasOwn(rebuilt, key) && sameJson(value, other)) continue
    if (isRecord(value) && isRecord(other)) {
      const inner = difference({ original: value, rebuilt: other, path: [...path, key] }, absent)
      if (Object.keys(inner).length > 0) setField(fields, key, inner)
    } else setField(fields, key, value)
  }
  return fields
}

/** A rebuilt record with what its import kept put back. */
export function restored<T extends object>(rebuilt: T, { fields, absent = [] }: Residue): T {
  const whole = fields ? merged(rebuilt as JsonRecord, fields) : { ...(rebuilt as JsonRecord) }
  return absent.reduce((record, path) => without(record, stepsOf(path)), whole) as T
}

function merged(rebuilt: JsonRecord, fields: JsonRecord): JsonRecord {
  const whole = { ...rebuilt }
  for (const [key, value] of Object.entries(fields)) {
    const other = Object.hasOwn(rebuilt, key) ? rebuilt[key] : undefined
    setField(whole, key, isRecord(value) && isRecord(other) ? merged(other, value) : value)
  }
  return whole
}

function without(record: JsonRecord, [step, ...rest]: readonly string[]): JsonRecord {
  if (step === undefined || !Object.hasOwn(record, step)) return record
  const copy = { ...record }
  const inner = copy[step]
  if (rest.length === 0) Reflect.deleteProperty(copy, step)
  else if (isRecord(inner)) setField(copy, step, without(inner, rest))
  return copy
}

/** Imported records in the order of their file; recorded ones as they came. */
export function inFileOrder<T>(items: readonly T[], indexOf: (item: T) => number | undefined): T[] {
  return items
    .map((item, position) => ({ item, at: indexOf(item) ?? position, position }))
    .sort((a, b) => a.at - b.at || a.position - b.position)
    .map(({ item }) => item)
}

/** The text as events hold a line of it; a longer one is kept whole in raw. */
export function line(text: string): string {
  if (text.length <= 4096) return text
  const cut = text.slice(0, 4096)
  return cut.isWellFormed() || !text.isWellFormed() ? cut : cut.slice(0, -1)
}

export const optionalLine = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : line(text)

/** A text from a value of an event that may be any JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const message = isRecord(value) ? value['message'] : undefined
  return typeof message === 'string' ? message : (JSON.stringify(value) ?? '')
}

export const optionalTextOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : textOf(value)

/** Whose events are drafted: the session's own run or a sub-session's. */
export type Run = {
  readonly key: string
  readonly runId: RunId
  readonly spanId: SpanId
  readonly actor: string
  readonly parentRunId?: RunId
  readonly parentSpanId?: SpanId
  readonly taskId?: string
}

/** A draft with the time it sorts by: never before what caused it, whatever a file's clocks say. */
export type Timed = { readonly draft: Draft; readonly sortAt: number }

type DraftPlace = { readonly run: Run; readonly spanId?: SpanId; readonly key: string }

/** A draft of one run; a span that is not the run's own is below it. */
export function draft<T extends EventType>(
  event: Recorded<T>,
  { run, spanId, key }: DraftPlace,
  ids: ImportIds,
): DraftOf<T> {
  const isOwn = spanId === undefined || spanId === run.spanId
  const parentSpanId = isOwn ? run.parentSpanId : run.spanId
  return {
    id: ids.event(key),
    traceId: ids.trace,
    spanId: spanId ?? run.spanId,
    sessionId: ids.session,
    runId: run.runId,
    actor: run.actor,
    ...event,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    ...(run.parentRunId === undefined ? {} : { parentRunId: run.parentRunId }),
    ...(run.taskId === undefined ? {} : { taskId: run.taskId }),
  } as unknown as DraftOf<T>
}
