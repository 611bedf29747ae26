import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { daemonFlags } from './daemon-flags.ts'
import type { Io, Program } from './io.ts'
import type { Terminal } from './terminal.ts'

type OpenIoOptions = Pick<Io, 'isJson' | 'isColored'> & {
  readonly terminal: Terminal
  readonly entryUrl: string
}

/** Gives a command the world; the heavy parts are opened when it asks for them. */
export function openIo(options: OpenIoOptions): Io {
  const { terminal, entryUrl, isJson, isColored } = options
  const { env } = process
  const place = { env, cwd: process.cwd(), home: homedir() }
  const io: Io = {
    env,
    cwd: place.cwd,
    program: programOf(entryUrl),
    signal: terminal.signal,
    isTerminal: terminal.isTerminal,
    isJson,
    isColored,
    width: () => terminal.view(undefined).width,
    canAsk: process.stdin.isTTY && process.stderr.isTTY && !isJson,
    confirm: async (question) => (await import('./confirm.ts')).confirm(question, terminal.signal),
    say: (message) => terminal.say(message),
    progress: (message) => terminal.progress(message),
    now: () => Date.now(),
    sleep: (ms, signal = terminal.signal) => sleep(ms, undefined, { signal }),
    daemon: async () => (await import('./daemon-connection.ts')).daemonConnection(io),
    offline: async () => (await import('../daemon/entries/offline.ts')).openOffline(place),
  }
  return io
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
