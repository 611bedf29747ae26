import { request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { clientFor } from '../test/support/daemon-process.ts'
import { type Figure, ratio } from './support/figure.ts'
import { endWithSessions, liveSession, startWithSessions } from './support/live-session.ts'
import { withFolder } from './support/temp.ts'

export const about =
  'the answer to a hook of a live session, each on a new connection: quiet, and while somebody floods the daemon (not with --quiet)'

/** What somebody does to a daemon who wants nobody else to be heard. */
const floods = [
  { what: 'events with 300,000 keys', kind: 'keys' },
  { what: 'events with 300,000 keys, by a tree', kind: 'keys', isTree: true },
  { what: 'events nested 10,000 deep', kind: 'nest' },
  { what: 'events nested 10,000 deep, by a tree', kind: 'nest', isTree: true },
  { what: '1,000 idle connections', kind: 'idle' },
  { what: '1,000 half-sent requests', kind: 'half' },
] as const
/** Two commits are compared by their quiet answers; what an older one does in a flood takes long. */
const isQuiet = process.argv.includes('--quiet')
type Target = { readonly port: number; readonly token: string }
type Flood = {
  readonly port: number
  readonly tokens: readonly string[]
  readonly kind: (typeof floods)[number]['kind']
}

const rounds = 4
/** A flood lasts: about half a second of it, after its first moment. */
const hooks = 500
const settling = 20
const connections = 1000
/** Calls of each flooding session that are under way at any time, and children that it has flood as well. */
const [atOnce, children] = [100, 4]
const givenUpMs = 1000

/** Quiet and each flood take turns, so that a busy machine slows all of them. */
export async function run(): Promise<Figure[]> {
  return withFolder(async (home) => {
    const daemon = await startWithSessions(home)
    const port = Number(new URL(daemon.url).port)
    const live = async (client = daemon.client): Promise<Target> => {
      const { token } = await liveSession(client, home)
      return { port, token }
    }
    try {
      const [session, flooder] = [await live(), await live()]
      const tree = [flooder.token]
      for (let n = 0; n < children; n++) tree.push((await live(clientFor(daemon.url, flooder.token))).token)
      const quiet: number[] = []
      const flooded = new Map<string, number[]>(floods.map(({ what }) => [what, []]))
      for (let round = 0; round < rounds; round++)
        for (const { what, kind, ...by } of floods) {
          // What the flood before it left is cleared away first.
          await answers(session, settling)
          quiet.push(...(await answers(session, hooks)))
          if (isQuiet) continue
          const stop = await startFlood({ port, tokens: 'isTree' in by ? tree : [flooder.token], kind })
          flooded.get(what)?.push(...(await answers(session, hooks)))
          await stop()
        }
      if (isQuiet) return figures('quiet', quiet)
      return [...figures('quiet', quiet), ...[...flooded].flatMap(([what, ms]) => figures(what, ms, quiet))]
    } finally {
      await endWithSessions(daemon, home)
    }
  })
}

function figures(what: string, times: readonly number[], quiet?: readonly number[]): Figure[] {
  const at = (part: number, of = times) => of.toSorted((a, b) => a - b)[Math.floor(of.length * part)] ?? NaN
  const ms = (value: number) => Math.round(value * 100) / 100
  return [
    { what: `${what}, p50`, value: ms(at(0.5)), unit: 'ms' },
    { what: `${what}, p99`, value: ms(at(0.99)), unit: 'ms' },
    ...(quiet ? [ratio(`${what}: p99 / quiet p99`, at(0.99) / at(0.99, quiet), { atMost: 3 })] : []),
  ]
}

let calls = 0

/** How long each of so many hooks took, one after the other: a call of a tool begins, and is over. */
async function answers(target: Target, count: number): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const isEnd = i % 2 === 1
    if (!isEnd) calls += 1
    const call = {
      hook_event_name: isEnd ? 'PostToolUse' : 'PreToolUse',
      session_id: 'bench',
      tool_name: 'Read',
      tool_use_id: `toolu_${calls}`,
      tool_input: { file_path: 'src/api/users.ts' },
      ...(isEnd && { tool_response: { text: 'read' } }),
    }
    times.push(await answered(target, JSON.stringify(call)))
  }
  return times
}

/** Whoever is turned away tries again, and gives up after a while, as a CLI does. */
async function answered(target: Target, call: string): Promise<number> {
  const start = performance.now()
  for (;;) {
    const status = await post(target, '/api/v1/hooks/claude', call).catch(() => 0)
    const ms = performance.now() - start
    if (status === 200 || ms > givenUpMs) return ms
    await sleep(10)
  }
}

function post({ port, token }: Target, path: string, body: string | Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    const call = request(
      { host: '127.0.0.1', port, path, method: 'POST', agent: false, headers },
      (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    call.once('error', reject).end(body)
  })
}

/** A flood in a thread of its own, once it has begun; what is returned ends it. */
async function startFlood(flood: Flood): Promise<() => Promise<unknown>> {
  const worker = new Worker(import.meta.filename, { workerData: flood })
  await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
  return () => worker.terminate()
}

async function floodThread(flood: Flood): Promise<void> {
  if (flood.kind === 'idle' || flood.kind === 'half') return holdOpen(flood)
  // With short names, so that it is not refused for its length alone.
  const payload =
    flood.kind === 'keys'
      ? `{${Array.from({ length: 300_000 }, (_, i) => `"${i.toString(36)}":1`).join(',')}}`
      : `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
  const body = Buffer.from(`{"events":[{"type":"progress.checkpoint","payload":${payload}}]}`)
  const send = (token: string) => post({ port: flood.port, token }, '/api/v1/events', body).catch(() => 0)
  const sendOn = async (token: string) => {
    for (;;) await send(token)
  }
  for (const token of flood.tokens) for (let n = 0; n < atOnce; n++) void sendOn(token)
  await Promise.all(flood.tokens.map(send))
  parentPort?.postMessage('begun')
}

/** As many connections as there may be; one that is cut is made again. */
async function holdOpen({ port, kind, tokens }: Flood): Promise<void> {
  const half = `POST /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`
  // Some stop in their headers, others show a token and stop in their body.
  const rest = `Authorization: Bearer ${tokens[0]}\r\nContent-Length: 100000\r\n\r\n{"events":[`
  const open = (n: number) =>
    new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        if (kind === 'half') socket.write(n % 2 ? half : half + rest)
        resolve()
      })
      socket.on('error', () => {})
      socket.once('close', () => setTimeout(() => void open(n), 100))
      socket.resume()
    })
  for (let n = 0; n < connections; n += 50)
    await Promise.all(Array.from({ length: 50 }, (_, i) => open(n + i)))
  parentPort?.postMessage('begun')
}

if (!isMainThread) await floodThread(workerData as Flood)
