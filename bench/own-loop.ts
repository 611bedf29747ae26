import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DaemonProcess, startDaemonProcess } from '../test/support/daemon-process.ts'
import { type Exchange, recordingProxy } from '../test/support/recording-proxy.ts'
import { startScriptedModel } from '../test/support/scripted-model/scripted-model.ts'
import { type Figure, median, ratio } from './support/figure.ts'
import { withFolder } from './support/temp.ts'

export const about =
  'a run of 200 turns of a built-in agent, each with a tool call: what a turn takes beyond the same HTTP exchange made bare'

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
    const start = () => startDaemonProcess(home, { env: { MUSTER_CONFIG: config, BENCH_KEY: 'x' } })
    let daemon = await start()
    try {
      const play = async () => {
        await playOnce(daemon, home)
        return proxy.exchanges().slice(-turns - 1)
      }
      // The model and what records it are warm after this; then a daemon and a client that both have just started.
      const bodies = await play()
      await daemon.kill('SIGTERM')
      daemon = await start()
      const cold = await play()
      await using bare = await bareClient(home, `${proxy.url}/v1/messages`, bodies)
      const bareCold = await bare.ask()
      // In turns, so that both meet the same machine: what else runs on it comes and goes.
      const pairs: { readonly run: readonly Exchange[]; readonly bare: readonly number[] }[] = []
      for (let i = 0; i < times; i++) pairs.push({ run: await play(), bare: await bare.ask() })
      const each = Array.from({ length: turns }, (_, i) => i)
      const bareMs = each.map((i) => median(pairs.map((pair) => pair.bare[i] ?? 0)))
      const tookMs = each.map((i) => median(pairs.map((pair) => gap(pair.run, i))))
      const first = each.map((i) => gap(cold, i) - (bareCold[i] ?? 0))
      const overheads = each.map((i) => (tookMs[i] ?? 0) - (bareMs[i] ?? 0))
      const at = (turn: number) => median(overheads.slice(turn - window, turn))
      return [
        { what: 'a bare exchange', value: round(median(bareMs)), unit: 'ms' },
        { what: 'a turn of the loop', value: round(median(tookMs)), unit: 'ms' },
        { what: 'the loop beyond the exchange, p50', value: round(median(overheads)), unit: 'ms', atMost: 5 },
        { what: 'the same, both just started', value: round(median(first)), unit: 'ms', atMost: 5 },
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

async function playOnce(daemon: DaemonProcess, home: string): Promise<void> {
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

/** The same bodies sent by a plain client in a process of its own, as the daemon is one; each once when it is asked. */
async function bareClient(home: string, url: string, exchanges: readonly Exchange[]) {
  const file = join(home, 'bodies.json')
  writeFileSync(file, JSON.stringify(exchanges.slice(0, turns).map(({ body }) => body)))
  const program = `
    const bodies = JSON.parse(require('node:fs').readFileSync(${JSON.stringify(file)}, 'utf8'))
    const headers = { 'content-type': 'application/json', 'x-api-key': 'x', 'anthropic-version': '2023-06-01' }
    process.on('message', async () => {
      const times = []
      for (const body of bodies) {
        const begun = performance.now()
        await (await fetch(${JSON.stringify(url)}, { method: 'POST', headers, body })).text()
        times.push(performance.now() - begun)
      }
      process.send(times)
    })`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return {
    async ask(): Promise<readonly number[]> {
      const answered = once(child, 'message')
      child.send('go')
      return (await answered)[0] as number[]
    },
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}
