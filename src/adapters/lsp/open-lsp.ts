import { promises as fs } from 'node:fs'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import type { FileTrust } from '../../ports/definitions.ts'
import type { Processes } from '../../ports/processes.ts'
import type { Tool, ToolContext } from '../../ports/tools.ts'
import { deadline, defineTool, toolEnvironment } from '../system/define-tool.ts'
import { placeInside } from '../system/place.ts'
import { canWall, wallArguments } from '../system/shell-sandbox.ts'
import { ownTemporary } from '../system/temporary-files.ts'
import { type FoundServer, findServer } from './find-server.ts'
import { diagnosticLines, hoverLines, locationLines, symbolLines } from './lsp-answers.ts'
import { type LspSession, startLsp } from './lsp-session.ts'
import { positionIn } from './position-in.ts'

const Input = z.strictObject({
  operation: z
    .enum(['definition', 'references', 'hover', 'symbols', 'diagnostics'])
    .describe('symbols lists those of a file, or searches the project for query'),
  file: z.string().min(1).max(4096).optional().describe('The file, absolute or relative to the project'),
  line: z.int().min(1).optional().describe('The line, from 1'),
  character: z.int().min(1).optional().describe('The column, from 1; with query it may be left out'),
  query: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('A name: where it is in the line or file, or which symbols to find'),
})
type Input = z.infer<typeof Input>

type Opening = {
  /** The daemon's own environment, of which little is passed on. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly processes: Processes
  /** Full paths of folders of which the server may see nothing. */
  readonly hidden?: readonly string[]
  /** What a person trusts of a project; nothing when it is left out. */
  readonly trustIn?: (workspace: string) => FileTrust
  /** How long one call may take. */
  readonly callMs?: number
}

/** Language servers of one run: each is started by the first call in its project. */
export type OpenLsp = {
  readonly tool: Tool
  /** Whether there is a server for a project; the tool is offered only then. */
  present(workspace: string, signal: AbortSignal): Promise<FoundServer>
  close(): Promise<void>
}

const usualMs = 60_000
const offline = { isOffline: true } as const

export function openLsp(opening: Opening): OpenLsp {
  const { processes, hidden = [], trustIn = () => () => false, callMs = usualMs } = opening
  const env = toolEnvironment(opening.env)
  const sessions = new Map<string, Promise<LspSession>>()
  let isClosed = false
  let isWalled = false
  const hasWalls = async (signal: AbortSignal) => (isWalled ||= await canWall(env, signal, offline))
  const present = (workspace: string, signal: AbortSignal) =>
    findServer({
      workspace,
      path: env['PATH'] ?? '',
      trusts: trustIn(workspace),
      hasWalls: () => hasWalls(signal),
    })

  const start = async (workspace: string, signal: AbortSignal): Promise<LspSession> => {
    const found = await present(workspace, signal)
    if (!found.ok) throw new AppError('unavailable', found.reason)
    const walled = (await hasWalls(signal)) ? wallArguments : () => []
    const temporary = await ownTemporary('lsp')
    const remove = () => fs.rm(temporary, { recursive: true, force: true })
    // A program of the project runs here unasked: it sees no more than a command does, changes nothing, and what it
    // says goes nowhere but into the answer.
    const layers = (await packagesOf(found.argv[0])).map((path) => ({ path, isOpen: false }))
    const walls = { workspace, writable: [], layers, alsoWritable: [], temporary, hidden, env, ...offline }
    const argv = [...walled(walls), ...found.argv]
    try {
      const session = await startLsp(
        { workspace, argv, env, processes, typescript: found.typescript },
        signal,
      )
      return { ...session, end: () => session.end().then(remove) }
    } catch (error) {
      await remove()
      throw error
    }
  }
  const sessionFor = async (workspace: string, signal: AbortSignal): Promise<LspSession> => {
    const current = await sessions.get(workspace)?.catch(() => undefined)
    if (current?.isAlive()) return current
    await current?.end()
    if (isClosed) throw new AppError('unavailable', 'the run is over')
    const next = start(workspace, signal)
    sessions.set(workspace, next)
    return await next
  }

  const tool = defineTool({
    name: 'LSP',
    description: [
      'Asks the TypeScript language server about code: where something is defined, where it is used, its type and documentation,',
      'the symbols of a file or of the project, and what is wrong with a file.',
      'Better than Grep for names that mean several things. Lines and columns begin with 1.',
    ].join(' '),
    category: 'perception',
    input: Input,
    async run(input, context) {
      using limit = deadline(context.signal, callMs)
      try {
        const session = await sessionFor(context.workspace, limit.signal)
        const lines = await answer(session, input, { ...context, signal: limit.signal })
        return { text: lines.length > 0 ? lines.join('\n') : nothing[input.operation], isError: false }
      } catch (error) {
        if (error instanceof AppError || context.signal.aborted) throw error
        const said = error instanceof z.ZodError ? 'its answer has an unknown form' : (error as Error).message
        const why = limit.isOver() ? `it took longer than ${callMs} ms` : said
        throw new AppError('unavailable', `The language server did not answer: ${why}`, { cause: error })
      }
    },
  })

  return {
    tool,
    present,
    async close() {
      isClosed = true
      await Promise.all(
        [...sessions.values()].map((session) =>
          session.then(
            (one) => one.end(),
            () => {},
          ),
        ),
      )
    },
  }
}

/** Where a program and what it needs really lie: packages may be linked from elsewhere. */
async function packagesOf(program = ''): Promise<readonly string[]> {
  const path = await fs.realpath(program)
  const end = path.lastIndexOf('/node_modules/')
  return end === -1 ? [] : [path.slice(0, end + '/node_modules'.length)]
}

const nothing: Readonly<Record<Input['operation'], string>> = {
  definition: 'No definition found.',
  references: 'No references found.',
  hover: 'Nothing is known about it.',
  symbols: 'No symbols found.',
  diagnostics: 'Nothing is wrong with it.',
}

async function answer(
  session: LspSession,
  input: Input,
  { workspace, signal }: ToolContext,
): Promise<readonly string[]> {
  const { operation, query } = input
  if (operation === 'symbols' && input.file === undefined) {
    if (query === undefined)
      throw new AppError('invalid', 'symbols needs a file, or a query for the whole project')
    await session.refresh()
    return symbolLines(await session.ask('workspace/symbol', { query }, signal), workspace)
  }
  if (input.file === undefined) throw new AppError('invalid', `${operation} needs a file`)
  const place = await placeInside(workspace, input.file)
  const text = await fs.readFile(place.full, 'utf8')
  await session.open(place.full)
  const textDocument = { uri: pathToFileURL(place.full).href }
  if (operation === 'symbols')
    return symbolLines(await session.ask('textDocument/documentSymbol', { textDocument }, signal), workspace)
  if (operation === 'diagnostics')
    return diagnosticLines(await session.diagnostics(place.full, signal), place.relative)
  const where = { textDocument, position: positionIn(text, input) }
  if (operation === 'hover') return hoverLines(await session.ask('textDocument/hover', where, signal))
  const params = operation === 'references' ? { ...where, context: { includeDeclaration: true } } : where
  return await locationLines(await session.ask(`textDocument/${operation}`, params, signal), workspace)
}
