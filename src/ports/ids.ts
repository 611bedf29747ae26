import type { EventId, RunId, SessionId, SpanId, TraceId } from '../contract/ids.ts'

/** Where identity comes from; ids are time-ordered so that an index on them stays append-only. */
export type Ids = {
  event(): EventId
  session(): SessionId
  run(): RunId
  trace(): TraceId
  span(): SpanId
}
