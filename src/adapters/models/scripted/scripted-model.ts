import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as z from 'zod'
import { AppError, errorCodes } from '../../../contract/errors.ts'
import { foreignLine } from '../../../contract/formats/foreign-json.ts'
import type { Clock } from '../../../ports/clock.ts'
import { systemClock } from '../../system/clock.ts'
import { anthropicProtocol } from './anthropic-protocol.ts'
import { chooseAnswer, type FailsAgain, failingAttempts } from './choose-answer.ts'
import {
  type RecordedRequest,
  type RequestLog,
  readBody,
  recordedHeaders,
  requestLog,
} from './model-request.ts'
import {
  answerOf,
  type Endpoint,
  estimatedTokens,
  type Failure,
  type Frame,
  type Protocol,
} from './protocol.ts'
import { Scenarios } from './script.ts'

/** How the server is set up. */
export type ScriptedModelOptions = {
  /** 0, the default, takes a free one. */
  readonly port?: number
  readonly host?: '127.0.0.1' | '::1' | 'localhost'
  /** Scripts by name, for prompts that say SCRIPT=name. */
  readonly scenarios?: Readonly<Record<string, z.input<typeof Scenarios>[string]>>
  readonly clock?: Clock
  /** Response ids are made from it; the start time when it is left out. */
  readonly seed?: string
  /** How many requests are remembered. */
  readonly maxRequests?: number
  /** Spoken besides Anthropic's, and asked first. */
  readonly protocols?: readonly Protocol[]
}

/** A running server. */
export type ScriptedModel = {
  readonly url: string
  readonly port: number
  /** What was asked so far and how it was answered, oldest first. */
  requests(): RecordedRequest[]
  /** Stops; answers that are still on their way are cut. */
  close(): Promise<void>
}

/** Starts a model that costs nothing: prompts carry the script of what it answers. */
export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const { host = '127.0.0.1', clock = systemClock, maxRequests = 1000 } = options
  if (!isLoopback(host)) throw new AppError('denied', `${host} is not this machine; use 127.0.0.1`)
  const log = requestLog(maxRequests)
  const responder: Responder = {
    scenarios: parseScenarios(options.scenarios ?? {}),
    failsAgain: failingAttempts(),
    clock,
    seed: options.seed ?? String(clock.now()),
    protocols: [...(options.protocols ?? []), anthropicProtocol],
  }
  const server = createServer((request, response) => {
    void handle({ request, response, log }, responder)
  })
  server.maxConnections = 1000
  // A client that reuses a connection just as the server ends it sees its request fail.
  server.keepAliveTimeout = 10 * 60_000
  await listen(server, { host, port: options.port ?? 0 })
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    requests: () => log.list(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function parseScenarios(given: object): Scenarios {
  const parsed = Scenarios.safeParse(given)
  if (parsed.success) return parsed.data
  throw new AppError('invalid', `a scenario is not valid: ${z.prettifyError(parsed.error)}`)
}

type Incoming = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly log: RequestLog
}

async function handle({ request, response, log }: Incoming, responder: Responder): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  // A page in a browser may reach loopback by a name of its own; what is recorded is not for it.
  if (!isLoopback(hostOf(request))) return refuse(response, { status: 421, message: 'not this host' })
  const url = URL.parse(request.url ?? '/', 'http://127.0.0.1')
  if (url === null) return refuse(response, { status: 400, message: 'no such path can be' })
  const method = request.method ?? 'GET'
  if (method === 'GET' && url.pathname === '/__requests') return sendJson(response, log.list())
  const record = log.open({
    at: new Date(responder.clock.now()).toISOString(),
    method,
    // Some clients put their key into the query.
    path: url.pathname,
    headers: recordedHeaders(request.headers),
  })
  try {
    const text = await readBody(request)
    await respond(url, { text, record, response, signal: gone.signal }, responder)
  } catch (error) {
    if (gone.signal.aborted) return
    const status = error instanceof AppError ? errorCodes[error.code].http : 500
    record.answered = 'refused'
    record.status = status
    if (response.headersSent) response.destroy()
    else refuse(response, { status, message: error instanceof Error ? error.message : String(error) })
  }
}

/** What all answers of one server have in common. */
type Responder = {
  readonly scenarios: Scenarios
  readonly failsAgain: FailsAgain
  readonly clock: Clock
  /** Tells the ids of this server from those of another, and of the same one after a restart. */
  readonly seed: string
  /** The first one that knows a request answers it. */
  readonly protocols: readonly Protocol[]
}

/** One request on its way to its answer; the record is filled in as it goes. */
type Exchange = {
  readonly text: string
  readonly record: RecordedRequest
  readonly response: ServerResponse
  /** Aborted when the client has gone or the server stops. */
  readonly signal: AbortSignal
}

/** Answers one request. It is known by the end of its path: clients put different things before it. */
async function respond(url: URL, exchange: Exchange, responder: Responder): Promise<void> {
  const { record, text } = exchange
  for (const protocol of responder.protocols) {
    const endpoint = protocol.endpoint(record.method, url)
    if (endpoint === undefined) continue
    record.protocol = protocol.name
    if (endpoint.kind === 'answer') return await answerRequest({ protocol, ...endpoint }, exchange, responder)
    record.answered = endpoint.kind
    if (endpoint.kind === 'models') return send(exchange, protocol.models(endpoint.model))
    return send(exchange, protocol.tokenCount(estimatedTokens(text.length)))
  }
  if (isGreeting(record)) {
    record.answered = 'hello'
    return send(exchange, { message: 'hello', server: 'muster-scripted-model' })
  }
  record.answered = 'unknown'
  fail(exchange, anthropicProtocol, { status: 404, message: `scripted model: nothing at ${record.path}` })
}

const isGreeting = ({ method, path }: RecordedRequest): boolean =>
  method === 'HEAD' || (method === 'GET' && (path === '/' || path.endsWith('/hello')))

/** Answers a request for the model's next turn. */
async function answerRequest(
  endpoint: Extract<Endpoint, { kind: 'answer' }> & { readonly protocol: Protocol },
  exchange: Exchange,
  responder: Responder,
): Promise<void> {
  const { protocol, model = 'scripted', stream = 'none' } = endpoint
  const { text, record, signal } = exchange
  const body = foreignLine(text)
  if (body === undefined) {
    record.answered = 'refused'
    return fail(exchange, protocol, { status: 400, message: 'scripted model: the body is not a JSON object' })
  }
  const conversation = protocol.read(body, { model, isStream: stream !== 'none' })
  const { answered, at, step, failure } = chooseAnswer(conversation, responder)
  const { isStream } = conversation
  Object.assign(record, { answered, isStream, model: conversation.model })
  if (at !== undefined) Object.assign(record, { script: at.key, step: at.index })

  if (step.delayMs !== undefined) await responder.clock.sleep(step.delayMs, signal)
  if (failure !== undefined) return fail(exchange, protocol, failure)
  if (answered === 'hang') return await untilGone(signal)

  const answer = answerOf(step, {
    id: responseHash(responder.seed, record.n),
    createdSec: Math.floor(responder.clock.now() / 1000),
    conversation,
    requestChars: text.length,
  })
  record.responseId = protocol.responseId(answer)
  record.usage = protocol.sentUsage(answer.usage)
  if (answer.calls.length > 0) record.tools = answer.calls.map(({ name }) => name)

  if (!isStream) return send(exchange, protocol.body(answer))
  const frames = protocol.frames(answer)
  if (stream === 'array')
    return send(
      exchange,
      frames.map(({ data }) => data),
    )
  record.status = 200
  const { clock } = responder
  await sendFrames(exchange.response, frames, { chunkMs: step.chunkMs ?? 0, isCut: step.cut, clock, signal })
  record.isSent = true
}

const responseHash = (seed: string, n: number): string =>
  createHash('sha256').update(`${seed} ${n}`).digest('hex').slice(0, 24)

function untilGone(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function send({ response, record }: Exchange, body: object): void {
  record.status = 200
  record.isSent = true
  sendJson(response, body)
}

function fail({ response, record }: Exchange, protocol: Protocol, failure: Failure): void {
  const { status, retryAfterSec } = failure
  record.status = status
  record.isSent = true
  const headers = retryAfterSec === undefined ? undefined : { 'retry-after': String(retryAfterSec) }
  sendJson(response, protocol.failure(failure), { status, ...(headers && { headers }) })
}

/** Sends a body whole. */
function sendJson(
  response: ServerResponse,
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

/** How slowly, and until when, a stream is sent; a cut one loses its connection half-way. */
type Pace = {
  readonly chunkMs: number
  readonly isCut: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Sends server-sent events, as slowly as was asked. */
async function sendFrames(
  response: ServerResponse,
  frames: readonly Frame[],
  { chunkMs, isCut, clock, signal }: Pace,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  const sent = isCut ? frames.slice(0, Math.ceil(frames.length / 2)) : frames
  for (const frame of sent) {
    signal.throwIfAborted()
    if (!response.write(frameText(frame))) await once(response, 'drain', { signal })
    if (frame.isPiece && chunkMs > 0) await clock.sleep(chunkMs, signal)
  }
  if (isCut) response.destroy()
  else response.end()
}

function frameText({ event, data }: Frame): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

function refuse(response: ServerResponse, { status, message }: { status: number; message: string }): void {
  const error = { type: 'invalid_request_error', message: `scripted model: ${message}` }
  sendJson(response, { type: 'error', error }, { status })
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)

const hostOf = ({ headers }: IncomingMessage): string =>
  (headers.host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')

function listen(server: Server, at: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE'
      reject(isTaken ? new AppError('conflict', `port ${at.port} is in use; choose another, or 0`) : error)
    })
    server.listen(at, resolve)
  })
}
