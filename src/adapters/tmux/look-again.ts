import { AppError } from '../../contract/errors.ts'
import type { Clock } from '../../ports/clock.ts'

/** Calls that come while one is under way become one more after it. */
export function oneAtATime(act: () => Promise<void>, signal: AbortSignal): () => void {
  let isBusy = false
  let isWanted = false
  const work = async (): Promise<void> => {
    isBusy = true
    try {
      while (isWanted && !signal.aborted) {
        isWanted = false
        await act()
      }
    } catch (error) {
      // The connection broke; after that all is looked at again.
      if (!signal.aborted && !(error instanceof AppError)) throw error
    } finally {
      isBusy = false
    }
  }
  return () => {
    isWanted = true
    if (!isBusy) void work()
  }
}

/** Acts every so often until the signal ends it. */
export async function every(
  ms: number,
  act: () => void,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(ms, signal)
      act()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
