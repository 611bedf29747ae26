import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What is known of a connection. */
type Connection = {
  /** A request on it showed a token that is known. */
  isProved: boolean
  /** Requests that are not answered yet. */
  open: number
}

/**
 * The connections of a server, of which there are at most so many. When another one comes, one that nobody misses makes
 * room: first one that never showed a token, the oldest first, then one that is not in use. So whoever only connects,
 * or sends half a request, keeps nobody out who has a token.
 */
export class Connections {
  readonly #most: number
  /** In the order in which they came. */
  readonly #all = new Map<Socket, Connection>()

  constructor(server: Server, most: number) {
    this.#most = most
    server.on('connection', (socket) => this.#take(socket))
  }

  /** A request is being answered; what is returned is called when its token is known, before it waits for anything. */
  serve({ socket }: IncomingMessage, outgoing: ServerResponse): () => void {
    const connection = this.#all.get(socket)
    if (!connection) return () => {}
    connection.open += 1
    outgoing.once('close', () => {
      connection.open -= 1
    })
    return () => {
      connection.isProved = true
    }
  }

  #take(socket: Socket): void {
    this.#all.set(socket, { isProved: false, open: 0 })
    socket.once('close', () => this.#all.delete(socket))
    if (this.#all.size <= this.#most) return
    const found =
      this.#first(socket, ({ isProved }) => !isProved) ?? this.#first(socket, ({ open }) => open === 0)
    const leaving = found ?? socket
    this.#all.delete(leaving)
    leaving.destroy()
  }

  #first(newest: Socket, isMissed: (connection: Connection) => boolean): Socket | undefined {
    for (const [socket, connection] of this.#all) if (socket !== newest && isMissed(connection)) return socket
    return undefined
  }
}
