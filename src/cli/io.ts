import type { Offline } from '../contract/offline.ts'
import type { DaemonConnection } from './daemon-connection.ts'

/** Where this program lies and what starts the daemon of the same version. */
export type Program = {
  readonly node: string
  /** What node is given to run the daemon: `daemon.mjs` beside the bundle, the source in a checkout. */
  readonly daemonArgs: readonly string[]
  /** What was started as `sm`. */
  readonly entry: string
}

/** All that a command may touch of the world. */
export type Io = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly program: Program
  readonly signal: AbortSignal
  readonly isTerminal: boolean
  readonly isJson: boolean
  readonly isColored: boolean
  /** How wide a line may be. */
  width(): number
  /** Whether a person is there to answer a question. */
  readonly canAsk: boolean
  /** Asks a person; anything but yes is no. */
  confirm(question: string): Promise<boolean>
  /** A message for the person; never part of the result. */
  say(message: string): void
  /** A line that the next one replaces on a terminal, and nothing elsewhere. */
  progress(message: string): void
  now(): number
  /** Waits, until the signal of the command or the given one ends it. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** The way to the daemon; opening it connects to nothing yet. */
  daemon(): Promise<DaemonConnection>
  /** What works without a daemon; loaded only when asked for. */
  offline(): Promise<Offline>
}
