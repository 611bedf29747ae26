import type { Clock } from '../ports/clock.ts'

const lookMs = 1000

type Working = { readonly untilMs: number; readonly isWaiting: () => boolean }

/** Resolves when the time for a piece of work is over; the clock stands still while it waits for a person. */
export async function workTime(
  clock: Clock,
  { untilMs, isWaiting }: Working,
  signal: AbortSignal,
): Promise<void> {
  let endMs = untilMs
  for (let now = clock.now(); now < endMs; now = clock.now()) {
    const stood = isWaiting()
    await clock.sleep(Math.min(lookMs, endMs - now), signal)
    if (stood) endMs += clock.now() - now
  }
}
