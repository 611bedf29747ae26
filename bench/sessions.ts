import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { socketName } from '../src/daemon/home.ts'
import { startDaemonProcess } from '../test/support/daemon-process.ts'
import { type Figure, median, ratio } from './support/figure.ts'
import { withFolder } from './support/temp.ts'

export const about =
  '200 sessions of a light agent: spawn to pane alive against a bare `tmux new-session`, `sm all` against `node -e 0`, the idle daemon'

const count = 200
const idleMs = 20_000

export async function run(): Promise<Figure[]> {
  return withFolder(async (home) => {
    const config = join(home, 'config.yaml')
    writeFileSync(
      config,
      `clis: { light: { command: sleep, args: [infinity] } }\nlimits: { max_sessions: 500, spawns_per_minute: 10000 }\n`,
    )
    const daemon = await startDaemonProcess(home, { env: { MUSTER_CONFIG: config } })
    const socket = socketName(home, '')
    try {
      const bare: number[] = []
      const ours: number[] = []
      const spawn = () => daemon.client.spawnSession({ agent_type: 'light', prompt: '', working_dir: home })
      await spawn()
      for (let i = 1; i < count; i++) {
        ours.push(await timed(spawn))
        if (i % 4 === 0)
          bare.push(
            await timed(async () => tmux(socket, 'new-session', '-d', '-s', `bare-${i}`, 'sleep infinity')),
          )
      }
      const node = median(await times(9, () => runs(process.execPath, ['-e', '0'])))
      const sm = join(import.meta.dirname, '..', 'dist', 'sm.mjs')
      const all = median(await times(9, () => runs(process.execPath, [sm, 'all'], { MUSTER_HOME: home })))
      // The garbage of two hundred spawns is collected within this time.
      await sleep(20_000)
      const before = cpuMs(daemon.process.pid)
      await sleep(idleMs)
      const idle = (cpuMs(daemon.process.pid) - before) / idleMs
      return [
        { what: 'a bare tmux new-session', value: Math.round(median(bare) * 10) / 10, unit: 'ms' },
        { what: 'sm spawn to pane alive', value: Math.round(median(ours) * 10) / 10, unit: 'ms' },
        ratio('spawn / bare tmux', median(ours) / median(bare), { atMost: 3 }),
        { what: `sm all with ${count} sessions`, value: Math.round(all), unit: 'ms' },
        ratio('sm all / node -e 0', all / node, { atMost: 5 }),
        { what: 'CPU of the idle daemon', value: Math.round(idle * 10_000) / 100, unit: '%', atMost: 1 },
      ]
    } finally {
      await daemon.kill('SIGTERM')
      tmux(socket, 'kill-server')
    }
  })
}

const tmux = (socket: string, ...args: string[]) => spawnSync('tmux', ['-L', socket, ...args])

const runs = async (command: string, args: string[], env: Record<string, string> = {}) => {
  spawnSync(command, args, { env: { ...process.env, ...env }, stdio: 'ignore' })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

async function times(n: number, work: () => Promise<unknown>): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < n; i++) found.push(await timed(work))
  return found
}

/** User and system time of a process, from the kernel. */
function cpuMs(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}
