import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sessionFiles } from '../../src/contract/home.ts'
import { socketName } from '../../src/daemon/home.ts'
import { clientFor, type DaemonProcess, startDaemonProcess } from './daemon-process.ts'
import { scriptedDefault } from './scripted-default.ts'
import { whenOver } from './shared.ts'
import { tempFolder } from './temp-journal.ts'
import { handOver } from './users.ts'

const usual = `clis:
  shell:
    command: bash
    args: [--norc, --noprofile]
`

export type SessionDaemonOptions = {
  readonly config?: string
  readonly env?: Record<string, string>
  /** The settings of a person's own tmux, on whose server the sessions then run. */
  readonly person?: string
  /** Another user than whoever runs the tests. */
  readonly uid?: number | undefined
}

/** A daemon whose sessions run on a tmux server of this test's, which ends with it; nothing of it is left. */
export async function sessionDaemon(options: SessionDaemonOptions = {}) {
  const home = tempFolder('muster-sessions-')
  const config = join(home, 'config.yaml')
  const isOwn = options.person === undefined
  writeFileSync(
    config,
    `${scriptedDefault(options.config ?? usual)}${isOwn ? '' : 'tmux: { socket: default }\n'}`,
  )
  writeFileSync(join(home, '.tmux.conf'), options.person ?? '')
  const sockets = isOwn ? {} : { TMUX_TMPDIR: home }
  const env = { MUSTER_CONFIG: config, LANG: 'C.UTF-8', SHELL: '/bin/bash', ...sockets, ...options.env }
  const socket = isOwn ? socketName(home, '') : 'default'
  const { uid } = options
  const user = uid === undefined ? {} : { uid, gid: uid }
  const own = {
    env: { PATH: process.env['PATH'], HOME: home, TERM: 'xterm', LANG: 'C.UTF-8', ...sockets },
    ...user,
  }
  const tmux = (...args: string[]) =>
    spawnSync('tmux', ['-L', socket, ...args], { encoding: 'utf8', ...own }).stdout
  handOver(home, uid)
  let daemon: DaemonProcess = await startDaemonProcess(home, { env, ...user })
  whenOver(async () => {
    await daemon.kill('SIGTERM')
    tmux('kill-server')
    for (const pid of processesOf(home)) kill(pid)
  })
  return {
    home,
    socket,
    sockets,
    /** For programs that a test starts as the user of the daemon. */
    user,
    tmux,
    get client() {
      return daemon.client
    },
    get daemon() {
      return daemon
    },
    /** A client with the token of a session, as the programs in it have. */
    as(shortId: string) {
      const file = join(home, sessionFiles.folder, shortId, sessionFiles.token)
      const token = readFileSync(file, 'utf8').trim()
      return { client: clientFor(daemon.url, token), token }
    },
    async restart(signal: NodeJS.Signals = 'SIGKILL', meanwhile = async () => {}) {
      await daemon.kill(signal)
      await meanwhile()
      daemon = await startDaemonProcess(home, { env, ...user })
    },
    /** Types a line once the shell of a terminal shows its prompt: what comes sooner, a shell that starts may drop. */
    async type(terminal: string, line: string) {
      const at = ['-t', `=${terminal}:`]
      await eventually(
        async () => tmux('capture-pane', '-p', ...at).trim(),
        (screen) => /[#$]$/.test(screen),
      )
      tmux('send-keys', ...at, line, 'Enter')
    },
    /** A folder of the test's own that the daemon's user may write. */
    folder(name?: string): string {
      const made = tempFolder(name)
      handOver(made, uid)
      return made
    },
    /** Waits until tmux itself knows that the program of a terminal has ended. */
    gone: (terminal: string) =>
      eventually(
        async () => tmux('display', '-p', '-t', `=${terminal}:`, '#{pane_dead}').trim(),
        (dead) => dead === '1',
      ),
    spawnShell: (more: Record<string, unknown> = {}, prompt = '') =>
      daemon.client.spawnSession({ agent_type: 'shell', prompt, working_dir: home, ...more }),
    processes: () => processesOf(home),
  }
}

/** Waits for something to become true; says what it last was when it does not. */
export async function eventually<T>(
  look: () => Promise<T>,
  isRight: (found: T) => boolean,
  // A real CLI on a machine that is busy with others takes over a minute to start.
  ms = 240_000,
): Promise<T> {
  const started = performance.now()
  for (;;) {
    const found = await look()
    if (isRight(found)) return found
    const waitedMs = performance.now() - started
    if (waitedMs > ms) throw new Error(`it never became so; last: ${JSON.stringify(found)}`)
    // Looking costs the daemon time too: what takes long is asked for less often.
    await sleep(Math.min(Math.max(waitedMs / 10, 10), 250))
  }
}

function environmentOf(pid: string | number): Record<string, string> {
  try {
    const text = readFileSync(`/proc/${pid}/environ`, 'utf8')
    return Object.fromEntries(
      text.split('\0').map((pair) => [pair.split('=', 1)[0] ?? '', pair.slice(pair.indexOf('=') + 1)]),
    )
  } catch {
    return {}
  }
}

/** Processes of sessions of a home, by the mark in their environment. */
export function processesOf(home: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      if (!(pid > 1) || pid === process.pid) return false
      const env = environmentOf(pid)
      return env['MUSTER_SESSION'] !== undefined && env['MUSTER_HOME'] === home
    })
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended in the meantime.
  }
}
