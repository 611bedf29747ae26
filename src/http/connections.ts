import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../contract/errors.ts'
import type { Proved } from './request-guards.ts'
import { Shares, shareOfSessions, type TopOf } from './shares.ts'

/** What is known of a connection. */
type Connection = {
  /** Whose token the last request on it showed; none that is known, none. */
  holder: 'session' | 'operator' | undefined
  /** Requests that are not answered yet. */
  open: number
}

/** How many connections there may be, and who belongs together. */
type Bounds = { readonly most: number; readonly topOf: TopOf }

/**
 * The connections of a server, of which there are at most so many. When another one comes, one that nobody misses makes
 * room: first one that never showed a token, the oldest first, then one that is not in use, a session's before a
 * person's, then one of the sessions that hold most. So whoever only connects, or sends half a request, keeps nobody out
 * who has a token, and no tree of sessions keeps out another or a person.
 */
export class Connections {
  readonly #most: number
  /** In the order in which they came. */
  readonly #all = new Map<Socket, Connection>()
  readonly #sessions: Shares<Socket>

  constructor(server: Server, { most, topOf }: Bounds) {
    this.#most = most
    this.#sessions = new Shares(topOf)
    server.on('connection', (socket) => this.#take(socket))
  }

  /** A request is being answered; what is returned is called when its token is known, before it waits for anything. */
  serve({ socket }: IncomingMessage, outgoing: ServerResponse): (holder: Proved) => void {
    const connection = this.#all.get(socket)
    if (!connection) return () => {}
    connection.open += 1
    outgoing.once('close', () => {
      connection.open -= 1
    })
    return (holder) => this.#prove(socket, connection, holder)
  }

  #take(socket: Socket): void {
    this.#all.set(socket, { holder: undefined, open: 0 })
    socket.once('close', () => this.#forget(socket))
    if (this.#all.size <= this.#most) return
    const isIdle = (holder: Connection['holder']) => (one: Connection) =>
      one.holder === holder && one.open === 0
    this.#cut(
      this.#first(socket, ({ holder }) => holder === undefined) ??
        this.#first(socket, isIdle('session')) ??
        this.#first(socket, isIdle('operator')) ??
        this.#sessions.next() ??
        socket,
    )
  }

  #prove(socket: Socket, connection: Connection, holder: Proved): void {
    // One that made room for another while its request came in holds nothing any more.
    if (!this.#all.has(socket)) return
    this.#sessions.delete(socket)
    connection.holder = holder.kind
    if (holder.kind === 'operator') return
    this.#sessions.add(socket, holder.sessionId)
    const share = shareOfSessions(this.#most)
    if (this.#sessions.size <= share) return
    const leaving =
      this.#first(socket, ({ holder, open }) => holder === 'session' && open === 0) ?? this.#sessions.next()
    if (leaving !== socket) return this.#cut(leaving)
    // It hears why, and then counts as one that nobody misses.
    this.#sessions.delete(socket)
    connection.holder = undefined
    throw new AppError(
      'limited',
      `sessions hold ${share} connections, and those of this session most of them; wait for a call to end`,
    )
  }

  #cut(socket: Socket | undefined): void {
    if (!socket) return
    this.#forget(socket)
    socket.destroy()
  }

  #forget(socket: Socket): void {
    this.#all.delete(socket)
    this.#sessions.delete(socket)
  }

  #first(newest: Socket, isMissed: (connection: Connection) => boolean): Socket | undefined {
    for (const [socket, connection] of this.#all) if (socket !== newest && isMissed(connection)) return socket
    return undefined
  }
}
