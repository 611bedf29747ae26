import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import type { McpServer } from '../../contract/mcp-server.ts'
import { version } from '../../contract/version.ts'
import type { Processes } from '../../ports/processes.ts'
import { deadline } from '../system/deadline.ts'
import { toolEnvironment } from '../system/tool-environment.ts'
import { fillIn } from './fill-in.ts'
import { stdioTransport } from './stdio-transport.ts'

/** Where servers run and what they get. */
export type McpSurroundings = {
  /** The daemon's own environment; a server gets little of it, and what its entry names. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where a server that is a program runs. */
  readonly folder: string
  readonly processes: Processes
  /** How long a server may take to start and to tell its tools. */
  readonly startMs: number
}

/** A server that answers. */
export type Connection = {
  readonly client: Client
  /** Why it no longer answers; nothing while it does. */
  ended(): string | undefined
  close(): Promise<void>
}

/** Starts or reaches a server. What is half open when it fails is closed again. */
export async function connect(
  server: McpServer,
  around: McpSurroundings,
  signal: AbortSignal,
): Promise<Connection> {
  const { transport, lastWords } = transportTo(fillIn(server, around.env), around)
  const client = new Client({ name: 'muster', version })
  let ended: string | undefined
  client.onclose = () => {
    const said = lastWords()
    ended = `the server has ended${said === '' ? '' : `; its last words: ${said}`}`
  }
  using limit = deadline(signal, around.startMs)
  try {
    await client.connect(transport, { signal: limit.signal, timeout: around.startMs })
  } catch (error) {
    await client.close()
    await transport.close()
    signal.throwIfAborted()
    const said = lastWords()
    const why = limit.isOver() ? `no answer in ${around.startMs} ms` : (error as Error).message
    throw new Error(said === '' ? why : `${why}; its last words: ${said}`, { cause: error })
  }
  return {
    client,
    ended: () => ended,
    async close() {
      await client.close()
      await transport.close()
    },
  }
}

function transportTo(
  server: McpServer,
  { env, folder, processes }: McpSurroundings,
): {
  readonly transport: Transport
  readonly lastWords: () => string
} {
  if ('url' in server) {
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: server.headers },
    })
    return { transport: transport as Transport, lastWords: () => '' }
  }
  const argv = [server.command, ...server.args]
  const transport = stdioTransport({ argv, env: toolEnvironment(env, server.env), folder, processes })
  return { transport, lastWords: () => transport.lastWords() }
}
