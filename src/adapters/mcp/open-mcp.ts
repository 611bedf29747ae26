import { createHash } from 'node:crypto'
import type { CallToolResult, Tool as ServerTool } from '@modelcontextprotocol/client'
import * as z from 'zod'
import type { McpServer } from '../../contract/mcp-server.ts'
import type { Tool, ToolOutcome } from '../../ports/tools.ts'
import { boundedOutput, cutText, failure } from '../system/define-tool.ts'
import { type Connection, connect, type McpSurroundings } from './mcp-connection.ts'

/** The servers of a run. */
export type OpenMcp = {
  readonly tools: readonly Tool[]
  /** Servers whose tools are not there, and why. */
  readonly problems: readonly { readonly server: string; readonly reason: string }[]
  /** Ends every server that was started, and all that it started. */
  close(): Promise<void>
}

type Opening = Omit<McpSurroundings, 'startMs'> & {
  readonly servers: Readonly<Record<string, McpServer>>
  readonly signal: AbortSignal
  readonly startMs?: number
  /** How long a call may take. */
  readonly callMs?: number
}

const usualStartMs = 15_000
const usualCallMs = 120_000
const mostTools = 128
const mostDescriptionChars = 2000
const mostSchemaChars = 50_000

/** Opens servers side by side, and offers their tools; one that cannot be had is a problem and no failure. */
export async function openMcp(opening: Opening): Promise<OpenMcp> {
  const { servers, signal, startMs = usualStartMs, callMs = usualCallMs } = opening
  const around = { ...opening, startMs }
  const all = Object.entries(servers).map(([name, server]) => reopening(name, server, around))
  const tools: Tool[] = []
  const problems: { server: string; reason: string }[] = []
  await Promise.all(
    all.map(async (one) => {
      try {
        const { client } = await one.get(signal)
        const listed = await client.listTools({}, { signal, timeout: startMs })
        for (const tool of listed.tools.slice(0, mostTools)) tools.push(toolOf(one, tool, callMs))
      } catch (error) {
        await one.close()
        problems.push({ server: one.name, reason: cutText((error as Error).message, mostDescriptionChars) })
      }
    }),
  )
  const close = async () => void (await Promise.all(all.map((one) => one.close())))
  if (signal.aborted) await close()
  signal.throwIfAborted()
  return { tools: unique(tools), problems, close }
}

type Reopening = {
  readonly name: string
  /** The connection; a new one when the last has ended. */
  get(signal: AbortSignal): Promise<Connection>
  close(): Promise<void>
}

function reopening(name: string, server: McpServer, around: McpSurroundings): Reopening {
  let current: Promise<Connection> | undefined
  let isClosed = false
  const close = async () => {
    const closing = current
    current = undefined
    await closing?.then(
      (connection) => connection.close(),
      () => {},
    )
  }
  return {
    name,
    async get(signal) {
      if ((await current?.catch(() => undefined))?.ended() !== undefined) await close()
      if (isClosed) throw new Error('the run is over')
      current ??= connect(server, around, signal)
      // One that failed is tried again by the next call.
      current.catch(() => (current = undefined))
      return await current
    },
    async close() {
      isClosed = true
      await close()
    },
  }
}

function toolOf(
  server: Reopening,
  { name, description = '', inputSchema, annotations }: ServerTool,
  callMs: number,
): Tool {
  const schema = JSON.stringify(inputSchema).length > mostSchemaChars ? { type: 'object' } : inputSchema
  return {
    name: toolName(server.name, name),
    description: cutText(description, mostDescriptionChars),
    category: annotations?.readOnlyHint === true ? 'perception' : 'action',
    input: z.looseObject({}),
    schema,
    changes: () => Promise.resolve([]),
    async run(input, { signal }) {
      let connection: Connection | undefined
      try {
        connection = await server.get(signal)
        const given = z.looseObject({}).parse(input)
        const result = await connection.client.callTool(
          { name, arguments: given },
          { signal, timeout: callMs, maxTotalTimeout: callMs },
        )
        return outcomeOf(result)
      } catch (error) {
        if (signal.aborted) return failure('The call was cancelled.')
        // What a server does wrong is an answer; the reason is its own, when it has ended by then.
        return failure(
          `The MCP server ${server.name} failed: ${connection?.ended() ?? (error as Error).message}`,
        )
      }
    },
  }
}

/** Of two tools under one name neither could be told from the other; the first stays. */
const unique = (tools: readonly Tool[]): readonly Tool[] =>
  [...new Map(tools.toReversed().map((tool) => [tool.name, tool])).values()].toReversed()

const mostChars = 30_000

/** What a model is told of a result; what is no text is named. */
export function outcomeOf({ content, structuredContent, isError = false }: CallToolResult): ToolOutcome {
  const output = boundedOutput(mostChars)
  const blocks = content.map(textOf)
  if (blocks.length === 0 && structuredContent !== undefined) blocks.push(JSON.stringify(structuredContent))
  for (const [i, text] of blocks.entries()) output.add(i === 0 ? text : `\n${text}`)
  const { text, isTruncated } = output.result()
  return {
    text: text.trim() === '' ? '[no output]' : text,
    isError,
    ...(isTruncated && { isTruncated: true as const }),
  }
}

function textOf(block: CallToolResult['content'][number]): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}, not shown]`
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[resource: ${block.resource.uri}, not shown]`
    case 'resource_link':
      return `[${block.name}](${block.uri})`
    default:
      return block satisfies never
  }
}

/** What every provider takes as the name of a tool. */
const longest = 64

/** The name under which an agent uses a tool of a server, as in Claude Code. */
export function toolName(server: string, tool: string): string {
  const name = `mcp__${plain(server)}__${plain(tool)}`
  if (name.length <= longest) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, longest - digest.length - 1)}_${digest}`
}

const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
