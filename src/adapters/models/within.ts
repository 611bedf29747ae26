import { linked } from '../../contract/linked.ts'
import type { Clock } from '../../ports/clock.ts'

/** What a wait with an end needs. */
export type Deadline = { readonly clock: Clock; readonly signal: AbortSignal }

/** Does something that may take only so long; nothing when it took longer, and then it was ended. */
export async function within<T>(
  { clock, signal }: Deadline,
  longestMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  using ended = linked(signal)
  let isLate = false
  clock.sleep(longestMs, ended.signal).then(
    () => {
      isLate = true
      ended.abort()
    },
    () => {},
  )
  try {
    return await work(ended.signal)
  } catch (error) {
    signal.throwIfAborted()
    if (isLate) return undefined
    throw error
  }
}
