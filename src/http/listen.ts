import { lstatSync, unlinkSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { AppError } from '../contract/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { HttpApp } from './app.ts'
import { Connections } from './connections.ts'
import type { OnBug } from './problem.ts'
import { letOthersIn } from './read-input.ts'

/** Where to listen. */
export type ListenOptions = {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Where somebody else has the port, another is taken rather than none. */
  readonly mayMove?: boolean
  /** Left out where the state folder's path is too long for a socket; then the port is used. */
  readonly socketPath?: string
  /** Allows an address that others than this machine can reach. */
  readonly isExposed?: boolean
  readonly maxConnections?: number
  readonly clock: Clock
  readonly onBug: OnBug
}

/** The listening server. */
export type Listening = {
  readonly port: number
  readonly url: string
  /** Ends streams, lets requests finish for so long, then cuts what is left. */
  close(graceMs: number): Promise<void>
}

/** Listens on loopback TCP for browsers and on a unix socket for `sm`. */
export async function listen(app: HttpApp, options: ListenOptions): Promise<Listening> {
  const { host, socketPath } = options
  if (!isLoopback(host) && !options.isExposed)
    throw new AppError(
      'denied',
      `${host} can be reached from outside; set http.host to 127.0.0.1, and use ssh -L from other machines`,
    )
  // The kernel cuts longer names silently on some systems and refuses them on others.
  if (socketPath !== undefined && Buffer.byteLength(socketPath) > 103)
    throw new AppError(
      'invalid',
      `the socket path ${socketPath} is too long; set MUSTER_HOME to a shorter folder`,
    )

  const tcp = serverFor(app, 'tcp', options)
  const unix = socketPath === undefined ? [] : [serverFor(app, 'unix', options)]
  await listenTcp(tcp, options).catch((error: unknown) => {
    if (!options.mayMove || !isTaken(error)) throw error
    return listenTcp(tcp, { ...options, port: 0 })
  })
  try {
    for (const server of unix) await listenUnix(server, socketPath ?? '')
  } catch (error) {
    tcp.close()
    throw error
  }
  const { port } = tcp.address() as AddressInfo
  const name = host.includes(':') ? `[${host}]` : host
  return {
    port,
    url: `http://${name}:${port}`,
    close: (graceMs) => close([tcp, ...unix], { app, graceMs, clock: options.clock }),
  }
}

function serverFor(app: HttpApp, via: 'tcp' | 'unix', options: ListenOptions): Server {
  const server = createAdaptorServer({
    async fetch(request, env) {
      const incoming = env.incoming as IncomingMessage
      const proved = connections.serve(incoming, env.outgoing as ServerResponse)
      const response = await app.fetch(request, { ...env, via, proved } as Parameters<HttpApp['fetch']>[1])
      keepUntilSent(incoming, env.outgoing as ServerResponse)
      if (!incoming.complete) void discardRest(request.body)
      return isStream(response) ? sendStream(response, env.outgoing as ServerResponse) : response
    },
    // Its clean-up cuts a sender off after half a second, who then has a broken pipe instead of the answer.
    autoCleanupIncoming: false,
    // Other code in the daemon relies on the platform's own Request and Response.
    overrideGlobalObjects: false,
    // A request without a Host still gets an answer; the guard refuses it.
    hostname: 'localhost',
  }) as Server
  const connections = new Connections(server, { most: options.maxConnections ?? 1000, topOf: app.topOf })
  return server
}

/**
 * A sender that is still busy with its body has not read the answer. Closing now, as one that wants no second request is
 * told, would break its pipe, and it would hold the daemon for gone. What it sends is thrown away; the server's own time
 * for a request bounds that.
 */
function keepUntilSent(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (incoming.complete || outgoing.shouldKeepAlive) return
  outgoing.shouldKeepAlive = true
  const close = () => incoming.socket.destroySoon()
  outgoing.once('finish', () => (incoming.readableEnded ? close() : incoming.once('end', close)))
}

/** What was begun to be read is read to its end by us: the sender reads its answer when it has sent all. */
async function discardRest(body: ReadableStream<Uint8Array> | null): Promise<void> {
  if (!body || body.locked) return
  const reader = body.getReader()
  try {
    while (!(await reader.read()).done) await letOthersIn()
  } catch {
    // It hung up, or its time was over.
  }
}

function listenTcp(server: Server, { host, port, onBug }: ListenOptions): Promise<void> {
  return bind(server, {
    start: () => server.listen({ host, port }),
    onBug,
    refuse: (error) =>
      error.code === 'EADDRINUSE'
        ? new AppError(
            'conflict',
            `port ${port} is in use; set http.port to another one, or end the program that uses it`,
            { cause: error },
          )
        : error,
  })
}

const isTaken = (error: unknown): boolean =>
  error instanceof AppError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'

async function listenUnix(server: Server, path: string, isRetry = false): Promise<void> {
  try {
    await bind(server, { start: () => listenPrivately(server, path) })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    if (isRetry || !lstatSync(path).isSocket() || (await isAnswered(path)))
      throw new AppError('conflict', `${path} is in use; another daemon is running with this MUSTER_HOME`)
    // Left behind by a daemon that was killed.
    unlinkSync(path)
    return listenUnix(server, path, true)
  }
}

// The socket is bound inside listen(), so the mask closes the moment in which others could connect.
function listenPrivately(server: Server, path: string): void {
  const mask = process.umask(0o177)
  try {
    server.listen({ path })
  } finally {
    process.umask(mask)
  }
}

type Bind = {
  readonly start: () => void
  readonly onBug?: OnBug
  readonly refuse?: (error: NodeJS.ErrnoException) => Error
}

function bind(server: Server, { start, onBug, refuse }: Bind): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      server.off('listening', done)
      reject(refuse ? refuse(error) : error)
    }
    const done = () => {
      server.off('error', fail)
      server.on('error', (error) => onBug?.(error, 'listener'))
      resolve()
    }
    server.once('error', fail)
    server.once('listening', done)
    start()
  })
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

async function close(
  servers: readonly Server[],
  { app, graceMs, clock }: { app: HttpApp; graceMs: number; clock: Clock },
): Promise<void> {
  const stop = new AbortController()
  const closed = Promise.all(
    servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
  )
  app.streams.endAll()
  for (const server of servers) server.closeIdleConnections()
  const cut = clock.sleep(graceMs, stop.signal).then(
    () => {
      for (const server of servers) server.closeAllConnections()
    },
    () => {},
  )
  await closed
  stop.abort()
  await cut
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)

const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false

/**
 * Sends a stream that may go on for days. The adapter's own loop keeps something of every piece in memory until the
 * stream ends, so its pieces are passed on here.
 */
function sendStream({ status, headers, body }: Response, outgoing: ServerResponse): Response {
  outgoing.writeHead(status, Object.fromEntries(headers))
  outgoing.flushHeaders()
  // A client that went away has told the stream so already; nothing else goes wrong between the two.
  void pass(body, outgoing).catch(() => outgoing.destroy())
  return RESPONSE_ALREADY_SENT
}

async function pass(body: Response['body'], outgoing: ServerResponse): Promise<void> {
  const reader = body?.getReader()
  outgoing.once('close', () => void reader?.cancel().catch(() => {}))
  for (;;) {
    const piece = await reader?.read()
    if (!piece || piece.done || outgoing.destroyed) break
    if (!outgoing.write(piece.value)) await drained(outgoing)
  }
  outgoing.end()
}

/** Without a race: what loses one is kept until the other side of it ends. */
const drained = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.on('drain', done)
    outgoing.on('close', done)
  })
