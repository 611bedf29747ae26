import * as z from 'zod'

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
        'Address that the daemon listens on. Any other than loopback is refused; from elsewhere use ssh -L.',
      ),
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe('Port that the daemon listens on; when left out a free one is chosen once and kept.'),
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
          .describe('Milliseconds that a client may leave its stream unread before it is closed.'),
        max_clients: z
          .int()
          .min(1)
          .max(10_000)
          .default(512)
          .describe('Most streams that are open at one time.'),
      })
      .prefault({})
      .describe('Bounds of the event streams.'),
  })
  .prefault({})
  .describe("The daemon's address and its bounds.")
