import * as z from 'zod'

/** `ses_` + 26 Crockford base32 characters: sorts by creation time, readable in a log line. */
const idOf = <P extends string>(prefix: P) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`), `expected ${prefix}_ and 26 base32 characters`)
    .brand<P>()

/** One line of the journal. */
export const EventId = idOf('evt')
/** One agent conversation. */
export const SessionId = idOf('ses')
/** One execution of one agent on one accepted prompt. */
export const RunId = idOf('run')
/** One W3C trace: 32 lower-case hex, never zero. It belongs to the root run. */
export const TraceId = z
  .string()
  .regex(/^(?!0{32})[0-9a-f]{32}$/, 'expected 32 lower-case hex digits, not all zero')
  .brand<'trace'>()
/** One span of a trace: 16 lower-case hex, never zero. */
export const SpanId = z
  .string()
  .regex(/^(?!0{16})[0-9a-f]{16}$/, 'expected 16 lower-case hex digits, not all zero')
  .brand<'span'>()

export type EventId = z.infer<typeof EventId>
export type SessionId = z.infer<typeof SessionId>
export type RunId = z.infer<typeof RunId>
export type TraceId = z.infer<typeof TraceId>
export type SpanId = z.infer<typeof SpanId>

/** The session and run of facts that belong to no agent: settings, journal repairs, redaction counters. */
export const fleet = {
  sessionId: `ses_${'0'.repeat(26)}` as SessionId,
  runId: `run_${'0'.repeat(26)}` as RunId,
  traceId: `${'0'.repeat(31)}1` as TraceId,
  spanId: `${'0'.repeat(15)}1` as SpanId,
} as const

export { shortId } from './short-id.ts'
