/** How long each kind of sign is believed. Times are milliseconds. */
export type Patience = {
  /** A turn without any sign is believed for so long: hooks are lossy. */
  readonly freshMs: number
  /** The same while a tool call is open; CLIs let one run for ten minutes. */
  readonly callMs: number
  /** Signs of one moment reach us in some order within this time. */
  readonly settleMs: number
  /** A screen that looks calm ends a turn when nothing else was seen for so long. */
  readonly calmMs: number
  /** A dialog may be drawn, and a spinner gone, so much later than a hook tells it. */
  readonly lagMs: number
  /** The same while this screen was never read as working: its rules may not know this version. */
  readonly unprovenMs: number
  /** Calls of one response begin within this time; what the model says later means that they are over. */
  readonly parallelMs: number
  /** Work without progress, though the screen says that it works. */
  readonly stuckMs: number
  /** The same while a tool call is open. */
  readonly stuckCallMs: number
  /** A question without any sign that it still stands. */
  readonly askMs: number
  /** A start without any sign of the program. */
  readonly startMs: number
  /** A limit of which nobody told when it ends. */
  readonly limitMs: number
}

export const usualPatience: Patience = {
  freshMs: 180_000,
  callMs: 600_000,
  settleMs: 3_000,
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
  /** When the clock or the watching last began anew: a start of the daemon, a wake-up, a clock that was set. */
  readonly resumedAt?: number
  readonly patience?: Partial<Patience>
}
