import * as z from 'zod'
import { EventId } from './ids.ts'
import { Count } from './values.ts'

/** A batch of proposed events. With a producer, item i is the producer's number `n + i`, and a repeat is harmless. */
export const AppendRequest = z.strictObject({
  producer: z
    .strictObject({ id: z.string().min(1).max(200), epoch: Count, n: z.int().positive() })
    .optional(),
  /** Each item is a draft event; an item that does not fit is rejected alone. */
  events: z.array(z.unknown()).min(1).max(10_000),
})

/** What became of one item. */
export const AppendResult = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('appended'), seq: z.int().positive(), id: EventId }),
  z.strictObject({ status: z.literal('duplicate') }),
  z.strictObject({ status: z.literal('rejected'), code: z.string(), message: z.string() }),
])
export type AppendResult = z.infer<typeof AppendResult>

export const AppendResponse = z.strictObject({ results: z.array(AppendResult) })
