import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../src/client/client.ts'
import { socketName } from '../src/daemon/home.ts'
import { cliPath, clis, missingCli } from '../test/support/clis.ts'
import { startDaemonProcess } from '../test/support/daemon-process.ts'
import { hermetic } from '../test/support/hermetic.ts'
import { type Figure, median, ratio } from './support/figure.ts'
import { withFolder } from './support/temp.ts'

export const about =
  'Claude Code to its ready prompt, in turns: by itself in a bare tmux pane, asked of the daemon, by typing `sm spawn`'

const turns = 9
const readyMs = 60_000
/** The box in which prompts are typed, between its two lines. */
const ready = /^─{20,}.*\n❯.*\n─{20,}/m

export async function run(): Promise<Figure[]> {
  const program = cliPath('claude')
  const [pin] = clis.filter(({ name }) => name === 'claude')
  if (program === undefined || !pin) {
    console.log(`  not measured: ${pin ? missingCli(pin) : 'Claude Code is not among the pinned CLIs'}`)
    return []
  }
  return withFolder(async (home) => {
    const own = hermetic('claude', {
      home: join(home, 'c'),
      modelUrl: 'http://127.0.0.1:9',
      permissions: 'ask',
    })
    const inherited = Object.keys(own.env).filter((name) => !['HOME', 'TERM'].includes(name))
    const config = join(home, 'config.yaml')
    writeFileSync(
      config,
      `claude: { default_command: ${JSON.stringify(program)} }\nsessions: { inherit_environment_vars: ${JSON.stringify(inherited)} }\n`,
    )
    const state = join(home, 'm')
    const env = { ...own.env, MUSTER_CONFIG: config }
    spawnSync('mkdir', ['-m', '700', state])
    const daemon = await startDaemonProcess(state, { env, isBuilt: true })
    const socket = socketName(state, '')
    const bareSocket = `${socket}-bare`
    try {
      tmux(bareSocket, 'new-session', '-d', '-s', 'keep', 'sleep infinity')
      const [bare, asked, typed]: [number[], number[], number[]] = [[], [], []]
      const viaDaemon = () => startAsked(daemon.client, { cwd: own.cwd, socket })
      const viaSm = () => startOurs({ home: state, cwd: own.cwd, env: own.env, socket })
      const byItself = () => startBare({ program, cwd: own.cwd, env: own.env, socket: bareSocket })
      await byItself()
      await viaSm()
      for (let i = 0; i < turns; i++) {
        bare.push(await byItself())
        asked.push(await viaDaemon())
        typed.push(await viaSm())
      }
      // Each against its neighbour: what else the machine does changes from one turn to the next.
      const against = (times: readonly number[]) => median(times.map((ms, i) => ms / (bare[i] ?? Number.NaN)))
      return [
        { what: 'Claude Code alone, to its prompt', value: Math.round(median(bare)), unit: 'ms' },
        { what: 'asked of the daemon', value: Math.round(median(asked)), unit: 'ms' },
        ratio('asked of the daemon / alone', against(asked), { atMost: 1.15 }),
        { what: 'typed as sm spawn', value: Math.round(median(typed)), unit: 'ms' },
        ratio('typed as sm spawn / alone', against(typed), { atMost: 1.4 }),
      ]
    } finally {
      await daemon.kill('SIGTERM')
      for (const one of [socket, bareSocket]) tmux(one, 'kill-server')
      await sleep(500)
    }
  })
}

type Place = { readonly cwd: string; readonly env: Readonly<Record<string, string>>; readonly socket: string }

async function startBare({ program, cwd, env, socket }: Place & { program: string }): Promise<number> {
  const start = performance.now()
  const given = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
  const size = ['-x', '220', '-y', '50']
  const args = ['--permission-mode', 'manual']
  tmux(socket, 'new-session', '-d', '-s', 'one', ...size, '-c', cwd, ...given, '--', program, ...args)
  await untilReady(socket, 'one')
  const took = performance.now() - start
  tmux(socket, 'kill-session', '-t', '=one')
  await settle()
  return took
}

/** As every caller asks it: `sm`, a page, another agent. */
async function startAsked(client: Client, { cwd, socket }: Omit<Place, 'env'>): Promise<number> {
  const start = performance.now()
  const { tmux_session, session_id } = await client.spawnSession({
    agent_type: 'claude',
    prompt: '',
    working_dir: cwd,
    permission_mode: 'manual',
  })
  await untilReady(socket, tmux_session)
  const took = performance.now() - start
  await client.killSession({ id: session_id, force: true })
  await settle()
  return took
}

/** As a person types it: the program `sm` is started too. */
async function startOurs({ home, cwd, env, socket }: Place & { home: string }): Promise<number> {
  const sm = join(import.meta.dirname, '..', 'dist', 'sm.mjs')
  const start = performance.now()
  const args = [sm, 'spawn', 'claude', '--permission-mode', 'manual', '--working-dir', cwd, '--json']
  const child = spawn(process.execPath, args, {
    env: { ...env, MUSTER_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  await once(child, 'close')
  const { tmux_session, session_id } = JSON.parse(out) as { tmux_session: string; session_id: string }
  await untilReady(socket, tmux_session)
  const took = performance.now() - start
  spawnSync(process.execPath, [sm, 'kill', session_id, '--force'], {
    env: { ...env, MUSTER_HOME: home },
  })
  await settle()
  return took
}

async function untilReady(socket: string, session: string): Promise<void> {
  const until = performance.now() + readyMs
  while (performance.now() < until) {
    if (ready.test(tmux(socket, 'capture-pane', '-p', '-t', `=${session}:`))) return
    await sleep(5)
  }
  throw new Error(`no prompt in ${readyMs} ms:\n${tmux(socket, 'capture-pane', '-p', '-t', `=${session}:`)}`)
}

/** What has just been ended must not be measured with the next. */
const settle = () => sleep(700)

const tmux = (socket: string, ...args: string[]): string =>
  spawnSync('tmux', ['-L', socket, ...args], { encoding: 'utf8' }).stdout
