import * as z from 'zod'
import { findCatastrophe } from '../pattern-safety.ts'

const mebibyte = 1024 * 1024

/** The daemon's address and the bounds of its streams. */
export const HttpConfig = z
  .strictObject({
    host: z
      .string()
      .min(1)
      .max(255)
      .default('127.0.0.1')
      .describe(
        'Address that the daemon listens on. Only loopback is accepted; use ssh -L from other machines.',
      ),
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe('Port that the daemon listens on; if left out, a free one is chosen once and kept.'),
    max_body_bytes: z
      .int()
      .min(64 * 1024)
      .max(256 * mebibyte)
      .default(4 * mebibyte)
      .describe('Largest request body; a larger one is refused.'),
    sse: z
      .strictObject({
        heartbeat_ms: z
          .int()
          .min(100)
          .max(600_000)
          .default(15_000)
          .describe('Milliseconds of silence after which a stream sends a heartbeat.'),
        stall_ms: z
          .int()
          .min(100)
          .max(3_600_000)
          .default(30_000)
          .describe('Milliseconds that a client may leave its stream unread before the stream is closed.'),
        max_clients: z.int().min(1).max(10_000).default(512).describe('Maximum number of open streams.'),
      })
      .prefault({})
      .describe('Limits of the event streams.'),
  })
  .prefault({})
  .describe("The daemon's address and its limits.")

/** How the event log is written. */
export const JournalConfig = z
  .strictObject({
    fsync: z
      .enum(['group', 'always', 'never'])
      .default('group')
      .describe(
        'group flushes to disk once for many events, always once per command, never leaves it to the operating system (a power cut may lose the newest events).',
      ),
    group_commit_ms: z
      .int()
      .min(0)
      .max(1000)
      .default(5)
      .describe('Longest time in milliseconds that an event waits for its group.'),
    group_commit_events: z
      .int()
      .min(1)
      .max(100_000)
      .default(1000)
      .describe('When this many events are waiting, they go to disk at once.'),
    segment_bytes: z
      .int()
      .min(64 * 1024)
      .max(4096 * mebibyte)
      .default(64 * mebibyte)
      .describe('Size at which a segment of the log is closed and the next one begins.'),
    reread_ms: z
      .int()
      .min(10)
      .max(86_400_000)
      .default(120_000)
      .describe(
        'Every so many milliseconds one closed segment is read again in the background, to notice changed bits.',
      ),
    reserve_bytes: z
      .int()
      .min(0)
      .max(1024 * mebibyte)
      .default(8 * mebibyte)
      .describe('Disk space kept back, so that the end of a session can be recorded when the disk is full.'),
  })
  .prefault({})
  .describe('How the event log is written.')

/** How long verbatim texts of finished runs are kept, encrypted. */
export const VaultConfig = z
  .strictObject({
    keep_days: z
      .int()
      .min(0)
      .max(3650)
      .default(7)
      .describe(
        'Days after the end of a run for which its encrypted originals are kept; 0 deletes them at once.',
      ),
  })
  .prefault({})
  .describe('The encrypted store of texts that must be delivered or resumed exactly.')

/** Which tmux server sessions run on. */
export const TmuxConfig = z
  .strictObject({
    socket: z
      .enum(['muster', 'default'])
      .default('muster')
      .describe(
        'muster runs sessions on their own tmux server; default puts them on yours, where plain `tmux ls` shows them and a `kill-server` ends them.',
      ),
  })
  .prefault({})
  .describe('Where the terminals of sessions live.')

const Rule = z
  .strictObject({
    name: z
      .string()
      .regex(
        /^[a-z][a-z0-9-]{0,39}$/,
        'a rule name has 1 to 40 lower-case letters, digits or -, and starts with a letter',
      )
      .describe('Name that replaces what was removed.'),
    pattern: z.string().min(1).max(2000).describe('Regular expression of the secret.'),
    flags: z
      .string()
      .regex(/^[imsu]*$/, 'flags are any of i, m, s, u')
      .optional()
      .describe('Flags of the regular expression: i, m, s, u.'),
  })
  .superRefine((rule, ctx) => {
    const expression = compile(rule.pattern, rule.flags)
    if (expression instanceof RegExp) {
      // A rule that matches nothing-at-all would cut every text apart.
      if (expression.test(''))
        ctx.addIssue({ code: 'custom', path: ['pattern'], message: 'the pattern matches an empty text' })
      const catastrophe = findCatastrophe(rule.pattern)
      if (catastrophe !== undefined) ctx.addIssue({ code: 'custom', path: ['pattern'], message: catastrophe })
    } else ctx.addIssue({ code: 'custom', path: ['pattern'], message: expression })
  })

/** What must never reach the disk in plain text, besides the built-in rules. */
export const RedactionConfig = z
  .strictObject({
    rules: z.array(Rule).max(200).default([]).describe('Your own rules, applied after the built-in ones.'),
    known_env: z
      .array(
        z
          .string()
          .regex(
            /^[A-Za-z0-9_*?]+$/,
            'the name of an environment variable; * and ? stand for any characters',
          ),
      )
      .max(500)
      .default(['*_TOKEN', '*_KEY', '*_SECRET', '*PASSWORD*'])
      .describe(
        'Environment variables whose values are removed wherever they appear. Your own list replaces this one.',
      ),
    keys: z
      .array(z.string().min(1).max(200))
      .max(500)
      .default([])
      .describe('Names of fields whose values are always removed, on top of the built-in names.'),
  })
  .prefault({})
  .describe('What is removed from every event before it is written.')

function compile(pattern: string, flags = ''): RegExp | string {
  try {
    return new RegExp(pattern, flags)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return error.message
  }
}
