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
  for (;;) {
    const now = clock.now()
    const stands = isWaiting()
    if (now >= endMs && !stands) return
    await clock.sleep(stands ? lookMs : Math.min(lookMs, endMs - now), signal)
    if (stands) endMs += clock.now() - now
  }
}

/** Why work was stopped that took too long; by these words it is known again after a crash. */
export const lateReason = ({ timeoutMs }: { readonly timeoutMs: number }): string =>
  `it took longer than ${timeoutMs / 60_000} min`
