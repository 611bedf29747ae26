import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { socketName } from '../../src/daemon/home.ts'
import { compiledOnce, startDaemonProcess } from './daemon-process.ts'
import { smProgram } from './programs.ts'
import { runtimeHome } from './runtime-daemon.ts'
import { whenOver } from './shared.ts'

const main = smProgram

/** A command that is under way: what it printed so far, and its end. */
export type Running = {
  readonly child: ChildProcess
  readonly out: () => string
  readonly err: () => string
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>
}

/** A daemon with agents of the user and a small git project, and `sm` run in it. */
export async function ownDaemon(config = '') {
  const { home, project, settings } = runtimeHome({ config })
  let daemon = await startDaemonProcess(home, { env: settings })
  whenOver(async () => {
    await daemon.kill('SIGKILL')
    // Commands that look at terminals have started a server for them.
    spawnSync('tmux', ['-L', socketName(home, ''), 'kill-server'])
  })
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    MUSTER_HOME: home,
    XDG_CACHE_HOME: join(home, '.cache'),
    NODE_NO_WARNINGS: '1',
    ...compiledOnce(),
    ...settings,
  }
  const begin = (args: readonly string[], input?: string): Running => {
    const child = spawn(process.execPath, [main, ...args], { cwd: project, env })
    let [out, err] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
    })
    if (input !== undefined) child.stdin.end(input)
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = new Promise<Awaited<Running['ended']>>((resolve) =>
      child.once('close', (code) => resolve({ code, out, err })),
    )
    return { child, out: () => out, err: () => err, ended }
  }
  return {
    home,
    project,
    env,
    main,
    client: () => daemon.client,
    /** Starts a command and leaves its standard input open. */
    begin,
    /** Runs a command to its end. */
    sm: (...args: string[]) => begin(args, '').ended,
    /** Kills the daemon and starts another on the same home. */
    async restart() {
      await daemon.kill('SIGKILL')
      daemon = await startDaemonProcess(home, { env: settings })
    },
  }
}
