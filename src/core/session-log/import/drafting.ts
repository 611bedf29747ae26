import type { Draft, DraftOf, EventType, PayloadOf } from '../../../contract/event.ts'
import type { RunId, SpanId } from '../../../contract/ids.ts'
import type { ImportIds } from '../derived-ids.ts'
import { eventTime, millisOf } from '../json/time.ts'
import type { JsonRecord } from '../json/value.ts'
import type { Recorded } from '../rebuild/recorded.ts'
import { residueOf } from '../residue.ts'

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

/** The text as events hold a line of it; what is longer stands whole in raw. */
export function line(text: string): string {
  if (text.length <= 4096) return text
  const cut = text.slice(0, 4096)
  return cut.isWellFormed() || !text.isWellFormed() ? cut : cut.slice(0, -1)
}

export const millis = (time: string): number => millisOf(time) || 0

/** An event under construction: its type, its time as events write it, and its payload. */
export const recorded = <T extends EventType>(type: T, time: string, payload: PayloadOf<T>): Recorded<T> =>
  ({ type, timestamp: eventTime(time), payload }) as unknown as Recorded<T>

/** What a record has beyond its events, as their `raw`. */
export function rawFor(
  original: object,
  rebuilt: object,
  place: { index?: number; format?: string },
): JsonRecord {
  return { ...place, ...residueOf(original as JsonRecord, rebuilt as JsonRecord) }
}

export type DraftPlace = { readonly run: Run; readonly spanId?: SpanId; readonly key: string }

/** A draft of one run; a span that is not the run's own is below it. */
export function draft<T extends EventType>(
  event: Recorded<T>,
  place: DraftPlace,
  ids: ImportIds,
): DraftOf<T> {
  const { run, spanId, key } = place
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
