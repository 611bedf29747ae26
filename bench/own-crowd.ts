import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DaemonProcess, startDaemonProcess } from '../test/support/daemon-process.ts'
import { startScriptedModel } from '../test/support/scripted-model/scripted-model.ts'
import { type Figure, median, ratio } from './support/figure.ts'
import { withFolder } from './support/temp.ts'

export const about =
  '50 main agents at once that stream their words to 20 clients for three minutes: frames that a client missed, and the memory of the daemon'

const agents = 50
const clients = 20
const minuteMs = 60_000

export async function run(): Promise<Figure[]> {
  return withFolder(async (home) => {
    const config = join(home, 'config.yaml')
    writeFileSync(join(home, 'a.txt'), 'line\n'.repeat(1000))
    const model = await startScriptedModel({
      maxRequests: 10,
      scenarios: { crowd: { cast: [{ when: 'crowd', steps: steps() }] } },
    })
    writeFileSync(
      config,
      `runtime: { max_iters: 1000, max_concurrent: ${agents} }
models:
  default: bench/scripted-1
  providers: { bench: { protocol: anthropic, base_url: "${model.url}/v1", key_env: BENCH_KEY } }
`,
    )
    const daemon = await startDaemonProcess(home, { env: { MUSTER_CONFIG: config, BENCH_KEY: 'x' } })
    const off = new AbortController()
    try {
      const seen = Array.from({ length: clients }, () => follow(daemon, off.signal))
      await sleep(500)
      const { seq: first } = await daemon.client.health({})
      const message = 'Stay with the crowd. SCRIPT=crowd'
      await Promise.all(
        Array.from({ length: agents }, () =>
          daemon.client.chat({ project_root: home, agent_id: 'coder', message }),
        ),
      )
      const rss: number[][] = [[], [], []]
      const begun = performance.now()
      for (let ms = 0; ms < 3 * minuteMs; ms = performance.now() - begun) {
        rss[Math.floor(ms / minuteMs)]?.push(rssMb(daemon.process.pid))
        await sleep(1000)
      }
      const runs = await daemon.client.listAgentRuns({ limit: agents * 2 })
      const atWork = runs.filter(({ status }) => status === 'running').length
      const { seq: last } = await daemon.client.health({})
      await sleep(3000)
      off.abort()
      const missed = seen.map((client) => missing(client.seqs, first + 1, last))
      const tokens = seen.map((client) => client.tokens)
      const [one = [], , three = []] = rss
      return [
        { what: 'agents still at work at the end', value: atWork, unit: '', atLeast: agents },
        { what: 'events in three minutes', value: last - first, unit: '' },
        { what: 'tokens that a client got', value: median(tokens), unit: '' },
        { what: 'most frames that a client missed', value: Math.max(...missed), unit: '', atMost: 0 },
        { what: 'memory in the first minute', value: Math.round(median(one)), unit: 'MB' },
        { what: 'memory in the third minute', value: Math.round(median(three)), unit: 'MB' },
        ratio('third minute / first minute', median(three) / median(one), { atMost: 1.1 }),
      ]
    } finally {
      off.abort()
      await daemon.kill('SIGTERM')
      await model.close()
    }
  })
}

/** Words that come slowly, with a tool between them, for longer than is measured. */
const steps = () =>
  Array.from({ length: 150 }, (_, i) => ({
    text: `Step ${i}: ${'some words that are streamed piece by piece '.repeat(6)}`,
    chunkMs: 100,
    tools: [{ name: 'Read', input: { file_path: 'a.txt', offset: i + 1, limit: 1 } }],
  }))

function follow(daemon: DaemonProcess, signal: AbortSignal) {
  const found = { seqs: new Set<number>(), tokens: 0 }
  const read = async () => {
    const headers = { authorization: `Bearer ${daemon.token}` }
    const stream = await fetch(`${daemon.url}/api/events`, { headers, signal })
    let rest = ''
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const parts = `${rest}${chunk}`.split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const id = /^id: (\d+)\./m.exec(part)?.[1]
        if (id !== undefined) found.seqs.add(Number(id))
        else if (part.startsWith('event: Token')) found.tokens += 1
      }
    }
  }
  read().catch(() => {})
  return found
}

function missing(seqs: ReadonlySet<number>, from: number, to: number): number {
  let count = 0
  for (let seq = from; seq <= to; seq++) if (!seqs.has(seq)) count += 1
  return count
}

const rssMb = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
