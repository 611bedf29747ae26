import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as z from 'zod'
import { AppError, errorCodes } from '../../../contract/errors.ts'
import type { Clock } from '../../../ports/clock.ts'
import { systemClock } from '../../system/clock.ts'
import type { Responder } from './exchange.ts'
import { failingAttempts } from './failing-attempts.ts'
import { findEndpoint } from './find-endpoint.ts'
import { readBody } from './read-body.ts'
import { type RecordedRequest, type RequestLog, recordedHeaders, requestLog } from './request-log.ts'
import { respond } from './respond.ts'
import { Scenarios } from './script.ts'
import { sendJson } from './send.ts'

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
  throw new AppError('invalid', `a scenario does not fit: ${z.prettifyError(parsed.error)}`)
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
  const endpoint = findEndpoint(request.method ?? 'GET', url)
  if (endpoint.kind === 'requests') return sendJson(response, log.list())
  const record = log.open({
    at: new Date(responder.clock.now()).toISOString(),
    method: request.method ?? 'GET',
    // Some clients put their key into the query.
    path: url.pathname,
    headers: recordedHeaders(request.headers),
  })
  try {
    const text = await readBody(request)
    await respond(endpoint, { text, record, response, signal: gone.signal }, responder)
  } catch (error) {
    if (gone.signal.aborted) return
    const status = error instanceof AppError ? errorCodes[error.code].http : 500
    record.answered = 'refused'
    record.status = status
    if (response.headersSent) response.destroy()
    else refuse(response, { status, message: error instanceof Error ? error.message : String(error) })
  }
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
      reject(isTaken ? new AppError('conflict', `port ${at.port} is taken; choose another, or 0`) : error)
    })
    server.listen(at, resolve)
  })
}
