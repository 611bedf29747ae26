/** How long each kind of sign is believed. Times are milliseconds. */
type Timeouts = {
  /** How long a turn without any sign is believed: hooks are lossy. */
  readonly freshMs: number
  /** The same while a tool call is open; CLIs let one run for ten minutes. */
  readonly callMs: number
  /** Signs of one moment reach us in some order within this time. */
  readonly settleMs: number
  /** The screen of a turn that ended may be drawn wrongly, or late, for this long. */
  readonly staleScreenMs: number
  /** A screen that looks calm ends a turn when nothing else was seen for this long. */
  readonly calmMs: number
  /** A dialog may be drawn, and a spinner gone, this much later than a hook tells it. */
  readonly lagMs: number
  /** The same while this screen was never read as working: its rules may not know this version. */
  readonly unprovenMs: number
  /** Calls of one response begin within this time; what the model says later means that they are over. */
  readonly parallelMs: number
  /** Work without progress, though the screen says that it works. */
  readonly stuckMs: number
  /** The same while a tool call is open. */
  readonly stuckCallMs: number
  /** A question without any sign that it is still open. */
  readonly askMs: number
  /** A start without any sign of the program. */
  readonly startMs: number
  /** A limit of which nobody told when it ends. */
  readonly limitMs: number
}

export const defaultTimeouts: Timeouts = {
  freshMs: 180_000,
  callMs: 600_000,
  settleMs: 3_000,
  staleScreenMs: 15_000,
  calmMs: 5_000,
  lagMs: 1_500,
  unprovenMs: 60_000,
  parallelMs: 10_000,
  stuckMs: 900_000,
  stuckCallMs: 3_600_000,
  askMs: 1_800_000,
  startMs: 60_000,
  limitMs: 18_000_000,
}

/** What a judgement depends on beside the evidence. */
export type JudgeOptions = {
  readonly now: number
  /** Silence after which a session counts as idle: `auto_complete.idle_timeout`. */
  readonly idleAfterMs: number
  /** When the program was started. */
  readonly startedAt?: number
  /** When the clock or the watching last started again: a start of the daemon, a wake-up, a clock that was set. */
  readonly resumedAt?: number
  readonly timeouts?: Partial<Timeouts>
}

/**
 * The clock of a judgement. Every rule asks it whether a time has passed; the earliest one that has not
 * is when the judgement may change by itself. A rule that looked at the clock in another way would make
 * that answer wrong.
 */
export type Timing = {
  readonly timeouts: Timeouts
  readonly idleAfterMs: number
  readonly options: JudgeOptions
  /** Whether this much time has passed since. */
  readonly passed: (at: number, ms: number) => boolean
  /** The same, but time before the watching resumed does not count: nobody could have seen anything. */
  readonly watchedFor: (at: number, ms: number) => boolean
  /** The earliest time that was asked about and has not passed. */
  readonly nextChange: () => number | undefined
}

export function timingAt(options: JudgeOptions): Timing {
  const { now, resumedAt = Number.NEGATIVE_INFINITY } = options
  let earliest: number | undefined
  const passed = (at: number, ms: number): boolean => {
    const due = at + ms
    if (now >= due) return true
    if (Number.isFinite(due)) earliest = earliest === undefined ? due : Math.min(earliest, due)
    return false
  }
  return {
    timeouts: { ...defaultTimeouts, ...options.timeouts },
    idleAfterMs: options.idleAfterMs,
    options,
    passed,
    watchedFor: (at, ms) => passed(Math.max(at, resumedAt), ms),
    nextChange: () => earliest,
  }
}
