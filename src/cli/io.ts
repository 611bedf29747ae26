import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Offline } from '../contract/offline.ts'
import type { DaemonConnection } from './daemon-connection.ts'
import { terminalLine } from './render/paint.ts'
import type { Terminal } from './terminal.ts'

/** Where this program lies and what starts the daemon of the same version. */
export type Program = {
  readonly node: string
  /** What node is given to run the daemon: `daemon.mjs` beside the bundle, the source in a checkout. */
  readonly daemonArgs: readonly string[]
  /** What was started as `sm`. */
  readonly entry: string
}

/** Where a command line was typed. */
export type Place = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The home folder of the user. */
  readonly home: string
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
  /** A message for the person, in one line; never part of the result. */
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

type OpenIoOptions = Pick<Io, 'isJson' | 'isColored'> & {
  readonly terminal: Terminal
  readonly entryUrl: string
  readonly place: Place
}

/** Gives a command the world; the heavy parts are opened when it asks for them. */
export function openIo(options: OpenIoOptions): Io {
  const { terminal, entryUrl, place, isJson, isColored } = options
  const io: Io = {
    env: place.env,
    cwd: place.cwd,
    program: programOf(entryUrl),
    signal: terminal.signal,
    isTerminal: terminal.isTerminal,
    isJson,
    isColored,
    width: () => terminal.view(undefined).width,
    canAsk: process.stdin.isTTY && process.stderr.isTTY && !isJson,
    confirm: (question) => confirm(question, terminal.signal),
    say: (message) => terminal.say(message),
    progress: (message) => terminal.progress(message),
    now: () => Date.now(),
    sleep: (ms, signal = terminal.signal) => sleep(ms, undefined, { signal }),
    daemon: async () => (await import('./daemon-connection.ts')).daemonConnection(io),
    offline: async () => (await import('../daemon/entries/offline.ts')).openOffline(place),
  }
  return io
}

// The result of a program goes to standard output, so the question does not.
async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(terminalLine(`${question} [y/N] `), { signal })).trim())
  } finally {
    lines.close()
  }
}

function programOf(entryUrl: string): Program {
  const entry = fileURLToPath(entryUrl)
  const here = dirname(entry)
  const isSource = entry.endsWith('.ts')
  return {
    node: process.execPath,
    entry,
    daemonArgs: [...daemonFlags, isSource ? join(here, '..', 'daemon', 'main.ts') : join(here, 'daemon.mjs')],
  }
}

/**
 * What V8 is told when the daemon starts: by itself it would let new objects take 128 MB. What else it is told, the
 * daemon says once it runs: with most flags on the command line, Node compiles its own modules anew at each start.
 */
export const daemonFlags = ['--max-semi-space-size=8'] as const
