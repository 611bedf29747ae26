import * as z from 'zod'

const mebibyte = 1024 * 1024

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
      .describe('So many waiting events go to disk at once, without waiting for more.'),
    segment_bytes: z
      .int()
      .min(64 * 1024)
      .max(4096 * mebibyte)
      .default(64 * mebibyte)
      .describe('Size at which a segment of the log is closed and the next one begins.'),
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
  .describe('The encrypted store of texts that must be delivered or resumed word for word.')

/** Which tmux server sessions run on. */
export const TmuxConfig = z
  .strictObject({
    socket: z
      .enum(['muster', 'default'])
      .default('muster')
      .describe(
        'muster runs sessions on a tmux server of their own; default puts them on yours, where plain `tmux ls` shows them and a `kill-server` ends them.',
      ),
  })
  .prefault({})
  .describe('Where the terminals of sessions live.')
