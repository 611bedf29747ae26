import * as z from 'zod'
import { Count } from './values.ts'

/** What the daemon answers at once, whatever else it is doing; which process and files it has only with a token. */
export const Health = z.strictObject({
  name: z.literal('muster'),
  version: z.string(),
  wire: z.strictObject({ current: Count, oldest: Count }),
  pid: z.int().optional(),
  startedAt: z.string(),
  home: z.string().optional(),
  url: z.string(),
  seq: Count,
  journal: z.enum(['ok', 'damaged', 'full', 'poisoned']),
  /** Files of the journal that are not as they were left, the first ones; what is wrong with each. */
  damage: z.array(z.string()).optional(),
})
export type Health = z.infer<typeof Health>

/** One thing the doctor looked at. */
export const Check = z.strictObject({
  name: z.string(),
  status: z.enum(['ok', 'warning', 'failed']),
  detail: z.string(),
  cure: z.string().optional(),
})
export type Check = z.infer<typeof Check>

/** A follower of the journal (index, search, reactors): where it is and what it set aside. */
export const Follower = z.strictObject({
  name: z.string(),
  seq: Count,
  lag: Count,
  parked: z.array(z.strictObject({ seq: Count, error: z.string() })),
  /** Why it does not get on; it tries again by itself. */
  error: z.string().optional(),
})

/** The daemon's observation of itself. */
export const SelfReport = z.strictObject({
  health: Health,
  uptimeMs: z.number(),
  rssBytes: Count,
  loopLagMs: z.strictObject({ p50: z.number(), p99: z.number(), max: z.number() }),
  queues: z.record(z.string(), Count),
  followers: z.array(Follower),
  sseClients: Count,
  redaction: z.record(z.string(), Count),
  checks: z.array(Check),
})
export type SelfReport = z.infer<typeof SelfReport>

/** Size of the journal, its first and last event. */
export const JournalStats = z.strictObject({
  segments: Count,
  bytes: Count,
  blobBytes: Count,
  oldestSeq: Count,
  seq: Count,
  snapshotSeq: Count,
  openSessions: Count,
  producers: Count,
})
export type JournalStats = z.infer<typeof JournalStats>
