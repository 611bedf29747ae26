import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startScriptedModel } from '../src/adapters/models/scripted/scripted-model.ts'
import { type DaemonProcess, startDaemonProcess } from '../test/support/daemon-process.ts'
import { type Exchange, recordingProxy } from '../test/support/recording-proxy.ts'
import { type Figure, median, ratio } from './support/figure.ts'
import { withFolder } from './support/temp.ts'

export const about =
  'a run of 200 turns of our own agent, each with a tool call: what a turn takes beyond the same HTTP exchange made bare'

const turns = 200
/** Each turn of the run, and each exchange, is done so often; the middle one counts. */
const times = 9
const window = 20

export async function run(): Promise<Figure[]> {
  return withFolder(async (home) => {
    const model = await startScriptedModel({ maxRequests: 10 })
    const proxy = await recordingProxy(model.url)
    const config = join(home, 'config.yaml')
    writeFileSync(
      config,
      `runtime: { max_iters: ${turns + 10} }
models:
  default: bench/scripted-1
  providers: { bench: { protocol: anthropic, base_url: "${proxy.url}/v1", key_env: BENCH_KEY } }
`,
    )
    const daemon = await startDaemonProcess(home, { env: { MUSTER_CONFIG: config, BENCH_KEY: 'x' } })
    try {
      // Once in a daemon that has just started, then in one that is warm, as the bare client is.
      const runs: (readonly Exchange[])[] = []
      for (let i = 0; i <= times; i++) {
        await play(daemon, home)
        runs.push(proxy.exchanges().slice(-turns - 1))
      }
      const [cold = [], ...warm] = runs
      const bare = await bareTimesOf(home, proxy.url, cold)
      const first = bare.map((ms, i) => gap(cold, i) - ms)
      const took = bare.map((_, i) => median(warm.map((run) => gap(run, i))))
      const overheads = bare.map((ms, i) => (took[i] ?? 0) - ms)
      const at = (turn: number) => median(overheads.slice(turn - window, turn))
      return [
        { what: 'a bare exchange', value: round(median(bare)), unit: 'ms' },
        { what: 'a turn of the loop', value: round(median(took)), unit: 'ms' },
        { what: 'the loop beyond the exchange, p50', value: round(median(overheads)), unit: 'ms', atMost: 5 },
        { what: 'the same in a daemon just started', value: round(median(first)), unit: 'ms', atMost: 5 },
        { what: `the same around turn ${window / 2}`, value: round(at(window)), unit: 'ms' },
        { what: `the same up to turn ${turns}`, value: round(at(turns)), unit: 'ms' },
        ratio(`turn ${turns} / turn ${window / 2}`, at(turns) / at(window), { atMost: 1.3 }),
      ]
    } finally {
      await daemon.kill('SIGTERM')
      await proxy.close()
      await model.close()
    }
  })
}

/** From one request to the next: the exchange, the call of the tool, and all that the loop does. */
const gap = (all: readonly Exchange[], i: number): number => (all[i + 1]?.atMs ?? 0) - (all[i]?.atMs ?? 0)

const round = (ms: number): number => Math.round(ms * 100) / 100

async function play(daemon: DaemonProcess, home: string): Promise<void> {
  const project = join(home, 'project')
  mkdirSync(project, { recursive: true })
  writeFileSync(join(project, 'a.txt'), 'line\n'.repeat(1000))
  const step = (i: number) => ({
    tools: [{ name: 'Read', input: { file_path: 'a.txt', offset: i + 1, limit: 1 } }],
  })
  const steps = Array.from({ length: turns }, (_, i) => step(i))
  const message = `SCRIPT:${JSON.stringify([...steps, { text: 'Done.' }])}`
  const { session_id } = await daemon.client.chat({ project_root: project, agent_id: 'coder', message })
  for (;;) {
    const [run] = await daemon.client.listAgentRuns({ session_id })
    if (run?.status === 'completed') return
    if (run && run.status !== 'running') throw new Error(`the run ${run.status}: ${run.detail}`)
    await sleep(200)
  }
}

/** The same bodies sent by a plain client in a process of its own, as the daemon is one. */
async function bareTimesOf(home: string, url: string, exchanges: readonly Exchange[]): Promise<number[]> {
  const file = join(home, 'bodies.json')
  writeFileSync(file, JSON.stringify(exchanges.slice(0, turns).map(({ body }) => body)))
  const out = join(home, 'times.json')
  const program = `
    const { readFileSync, writeFileSync } = require('node:fs')
    const bodies = JSON.parse(readFileSync(${JSON.stringify(file)}, 'utf8'))
    const headers = { 'content-type': 'application/json', 'x-api-key': 'x', 'anthropic-version': '2023-06-01' }
    const ask = async (body) => {
      const begun = performance.now()
      await (await fetch(${JSON.stringify(`${url}/v1/messages`)}, { method: 'POST', headers, body })).text()
      return performance.now() - begun
    }
    ;(async () => {
      for (let i = 0; i < ${turns}; i++) await ask(bodies[i % bodies.length])
      const times = []
      for (const body of bodies) {
        const each = []
        for (let i = 0; i < ${times}; i++) each.push(await ask(body))
        times.push(each.sort((a, b) => a - b)[${Math.floor(times / 2)}])
      }
      writeFileSync(${JSON.stringify(out)}, JSON.stringify(times))
    })()`
  // The proxy answers from this process, so it must not stand still meanwhile.
  const child = spawn(process.execPath, ['-e', program], { stdio: 'inherit' })
  await new Promise((resolve) => child.once('exit', resolve))
  return JSON.parse(readFileSync(out, 'utf8')) as number[]
}
