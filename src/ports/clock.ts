/** Time as the world has it; tests move it by hand. */
export type Clock = {
  /** Wall-clock milliseconds since the epoch. */
  now(): number
  /** Milliseconds from an arbitrary start that never go back; for durations. */
  monotonic(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}
