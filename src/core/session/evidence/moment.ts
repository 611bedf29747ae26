import { type JudgeOptions, type Patience, usualPatience } from './patience.ts'

/**
 * The moment of a judgement. Every rule asks it whether a time has passed; the earliest one that has not
 * is when the judgement may change by itself. A rule that looked at the clock in another way would make
 * that answer wrong.
 */
export type Moment = {
  readonly patience: Patience
  readonly idleAfterMs: number
  readonly options: JudgeOptions
  /** Whether so much time has passed since. */
  readonly after: (at: number, ms: number) => boolean
  /** The same, but time before the watching resumed does not count: nobody could have seen anything. */
  readonly aged: (at: number, ms: number) => boolean
  readonly next: () => number | undefined
}

export function momentOf(options: JudgeOptions): Moment {
  const { now, resumedAt = Number.NEGATIVE_INFINITY } = options
  let earliest: number | undefined
  const after = (at: number, ms: number): boolean => {
    const due = at + ms
    if (now >= due) return true
    if (Number.isFinite(due)) earliest = earliest === undefined ? due : Math.min(earliest, due)
    return false
  }
  return {
    patience: { ...usualPatience, ...options.patience },
    idleAfterMs: options.idleAfterMs,
    options,
    after,
    aged: (at, ms) => after(Math.max(at, resumedAt), ms),
    next: () => earliest,
  }
}
