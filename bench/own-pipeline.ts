import { promises as fs, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DaemonProcess, startDaemonProcess } from '../test/support/daemon-process.ts'
import { type Figure, median, ratio } from './support/figure.ts'
import { withFolder } from './support/temp.ts'

export const about =
  'a workflow script with a pipeline of 1,000 agents, eight at a time: from the recorded end of an agent to the first model request of the one that takes its place, beyond a line flushed to disk and a request made bare, and the memory of the daemon'

const agents = 1000
const atOnce = 8
/** A model that answers at once would have eight agents wait for each other, and not for it. */
const answerMs = 200
/** Agents on both sides of the one that is looked at. */
const window = 50
/** Bare ones of each of those at a time, before and after. */
const exchanges = 30

const script = `
export const meta = { name: 'many', description: 'Asks a thousand agents', phases: ['ask'] }
export default async function ({ args, agent, pipeline, phase }) {
  await phase('ask')
  const items = Array.from({ length: args.agents }, (_, i) => i)
  const said = await pipeline(items, (i) => agent('Answer number ' + i))
  return { answers: said.length }
}
`

export async function run(): Promise<Figure[]> {
  return withFolder(async (home) => {
    const model = await timedModel()
    const config = join(home, 'config.yaml')
    writeFileSync(
      config,
      `models:
  default: bench/one
  providers: { bench: { protocol: anthropic, base_url: "${model.url}/v1", key_env: BENCH_KEY } }
`,
    )
    writeFileSync(join(home, 'many.ts'), script)
    const daemon = await startDaemonProcess(home, { env: { MUSTER_CONFIG: config, BENCH_KEY: 'x' } })
    try {
      // Before and after, so that both meet the same machine: what else runs on it comes and goes.
      const before = await bare(model.url, home)
      model.forget()
      const { peakMb, wallMs, sessionId } = await played(daemon, home)
      const { asked, answered } = model.forget()
      const bareMs = median([...before, ...(await bare(model.url, home))])
      const from = (starts: readonly number[]) =>
        asked.slice(atOnce).map((atMs, i) => atMs - (starts[i] ?? Number.NaN))
      const gaps = from(await endsOf(daemon, sessionId))
      const around = (n: number) => median(gaps.slice(Math.max(0, n - window), n + window))
      const last = agents - atOnce
      return [
        { what: 'agents that were asked', value: asked.length, unit: '', atLeast: agents, atMost: agents },
        { what: 'the whole run', value: Math.round(wallMs), unit: 'ms' },
        { what: 'from an answer to the next request, p50', value: round(median(from(answered))), unit: 'ms' },
        { what: 'from the end of an agent to that, p50', value: round(median(gaps)), unit: 'ms' },
        { what: 'a line flushed and a bare request, p50', value: round(bareMs), unit: 'ms' },
        { what: 'the run beyond that, p50', value: round(median(gaps) - bareMs), unit: 'ms', atMost: 10 },
        { what: 'to the next request around agent 50', value: round(around(window)), unit: 'ms' },
        { what: `the same up to agent ${agents}`, value: round(around(last)), unit: 'ms' },
        ratio(`agent ${agents} / agent 50`, around(last) / around(window), { atMost: 1.5 }),
        { what: 'most memory of the daemon', value: Math.round(peakMb), unit: 'MB', atMost: 1024 },
      ]
    } finally {
      await daemon.kill('SIGTERM')
      await model.close()
    }
  })
}

type Played = { readonly peakMb: number; readonly wallMs: number; readonly sessionId: string }

async function played(daemon: DaemonProcess, root: string): Promise<Played> {
  const begunMs = performance.now()
  const { workflow_id: id, session_id: sessionId } = await daemon.client.startScript({
    script: './many.ts',
    project_root: root,
    args: { agents },
    cli: 'own',
    limits: { concurrency: atOnce },
    approved: true,
  })
  for (;;) {
    await sleep(500)
    const { status, result, detail } = await daemon.client.getWorkflow({ id })
    if (status === 'running') continue
    if ((result as { answers?: number } | null)?.answers !== agents)
      throw new Error(`${id} is ${status}: ${detail ?? ''}`)
    return { peakMb: peakMb(daemon.process.pid), wallMs: performance.now() - begunMs, sessionId }
  }
}

/** When each agent ended, as it was recorded, in that order. */
async function endsOf({ client }: DaemonProcess, session: string): Promise<number[]> {
  const ends: number[] = []
  for (let after = 0; ; ) {
    const { events } = await client.listEvents({ session, type: 'agent.completed', after, limit: 500 })
    if (events.length === 0) return ends
    ends.push(...events.map(({ recordedAt }) => Date.parse(recordedAt)))
    after = events.at(-1)?.seq ?? after
  }
}

const nowMs = (): number => performance.timeOrigin + performance.now()

/** The least that there is to do: as many at a time, each flushes a line to disk and asks again. */
async function bare(url: string, folder: string): Promise<number[]> {
  const gaps: number[] = []
  const file = await fs.open(join(folder, 'bare.jsonl'), 'a')
  const loop = async () => {
    for (let i = 0; i < exchanges; i++) {
      const sent = await (await fetch(url, { method: 'POST', body: '{}' })).text()
      const atMs = nowMs()
      await file.write(`${JSON.stringify(sent)}\n`)
      await file.datasync()
      const head = await fetch(url, { method: 'HEAD' })
      gaps.push(Number(head.headers.get('x-asked-at')) - atMs)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, loop))
  await file.close()
  return gaps
}

/** A model with one answer that notes when each request was there and when its answer was sent. */
async function timedModel() {
  let asked: number[] = []
  let answered: number[] = []
  const server = createServer((request, response) => {
    if (request.method === 'HEAD') return void response.writeHead(200, { 'x-asked-at': nowMs() }).end()
    request.resume().once('end', () => {
      asked.push(nowMs())
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(answer(asked.length), () => answered.push(nowMs()))
      }, answerMs)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  /** What was noted by now; from here on it is noted anew. */
  const forget = () => {
    const noted = { asked, answered }
    asked = []
    answered = []
    return noted
  }
  return { url: `http://127.0.0.1:${port}`, forget, close }
}

const frame = (type: string, more: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`

const answer = (n: number): string =>
  [
    frame('message_start', {
      message: {
        id: `msg_${n}`,
        type: 'message',
        role: 'assistant',
        model: 'one',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 10, output_tokens: 1 },
      },
    }),
    frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'An answer.' } }),
    frame('content_block_stop', { index: 0 }),
    frame('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }),
    frame('message_stop', {}),
  ].join('')

const round = (ms: number): number => Math.round(ms * 10) / 10

const peakMb = (pid: number | undefined): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
