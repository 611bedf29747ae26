import * as z from 'zod'

/** How far the session tree may grow. */
export const LimitsConfig = z
  .strictObject({
    max_depth: z.int().min(0).max(64).default(4).describe('Levels of sessions below a root session.'),
    max_children: z.int().min(0).max(10_000).default(16).describe('Live children of one session.'),
    max_descendants: z
      .int()
      .min(0)
      .max(100_000)
      .default(64)
      .describe('Sessions ever started below one root session, all levels together.'),
    max_sessions: z.int().min(1).max(10_000).default(200).describe('Sessions that run at one time.'),
    spawns_per_minute: z.int().min(1).max(100_000).default(60).describe('Sessions started within a minute.'),
  })
  .prefault({})
  .describe('How far the session tree may grow; a spawn over a limit is refused.')
