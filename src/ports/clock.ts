import type { EventId, RunId, SessionId, SpanId, TraceId } from '../contract/ids.ts'

/** Time as the world has it; tests move it by hand. */
export type Clock = {
  /** Wall-clock milliseconds since the epoch. */
  now(): number
  /** Milliseconds from an arbitrary start that never go back; for durations. */
  monotonic(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** Where identity comes from; ids are time-ordered so that an index on them stays append-only. */
export type Ids = {
  event(): EventId
  session(): SessionId
  run(): RunId
  trace(): TraceId
  span(): SpanId
}
