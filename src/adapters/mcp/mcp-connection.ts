import { once } from 'node:events'
import {
  Client,
  type JSONRPCMessage,
  ReadBuffer,
  StreamableHTTPClientTransport,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { AppError } from '../../contract/errors.ts'
import type { McpServer } from '../../contract/mcp-server.ts'
import { version } from '../../contract/version.ts'
import type { Processes } from '../../ports/processes.ts'
import { deadline, toolEnvironment } from '../system/define-tool.ts'
import { type PipedProgram, startPiped } from '../system/run-program.ts'

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
    ended = `the server has ended${said === '' ? '' : `; its last output: ${said}`}`
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
    throw new Error(said === '' ? why : `${why}; its last output: ${said}`, { cause: error })
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

/** A transport, and what its process said besides. */
type StdioTransport = Transport & { lastWords(): string }

const mostMessageBytes = 10 << 20

/** Speaks with a program by its pipes, and ends it with everything that it started. */
function stdioTransport(starting: Parameters<typeof startPiped>[0]): StdioTransport {
  const buffer = new ReadBuffer({ maxBufferSize: mostMessageBytes })
  let program: PipedProgram | undefined

  const read = (chunk: Buffer): void => {
    try {
      buffer.append(chunk)
    } catch (error) {
      transport.onerror?.(error as Error)
      void transport.close()
      return
    }
    for (;;) {
      try {
        const message = buffer.readMessage()
        if (message === null) return
        transport.onmessage?.(message)
      } catch (error) {
        // A line that is no message is passed over: many servers print something when they start.
        transport.onerror?.(error as Error)
      }
    }
  }

  const transport: StdioTransport = {
    async start() {
      program = await startPiped(starting)
      program.output.on('data', read)
      void program.closed.then(() => transport.onclose?.())
    },
    async send(message: JSONRPCMessage) {
      if (!program?.input.writable) throw new Error('the server has ended')
      if (!program.input.write(serializeMessage(message))) await once(program.input, 'drain')
    },
    async close() {
      await program?.end()
      buffer.clear()
    },
    lastWords: () => program?.lastWords() ?? '',
  }
  return transport
}

type Environment = Readonly<Record<string, string | undefined>>

const placeholder = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** Puts variables of the environment where a server names them, so that no secret has to be in a file. */
function fillIn(server: McpServer, env: Environment): McpServer {
  const fill = (text: string): string =>
    text.replaceAll(placeholder, (_all, name: string, otherwise: string | undefined) => {
      const value = env[name] ?? otherwise
      if (value === undefined)
        throw new AppError(
          'invalid',
          `it needs the variable ${name}, which is not set in the environment of the daemon`,
        )
      return value
    })
  const fillAll = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]))
  if ('url' in server) return { ...server, url: fill(server.url), headers: fillAll(server.headers) }
  return { ...server, command: fill(server.command), args: server.args.map(fill), env: fillAll(server.env) }
}
