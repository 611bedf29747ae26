import { promises as fs } from 'node:fs'
import { extname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Processes } from '../../ports/processes.ts'
import { type PipedProgram, startPiped } from '../system/run-program.ts'
import { type LspWire, lspWire } from './lsp-wire.ts'
import { watchSources } from './watch-sources.ts'

type Starting = {
  readonly workspace: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly processes: Processes
  /** The TypeScript that the older server works with, in place of the project's. */
  readonly typescript?: string | undefined
}

/** A language server that works on one project. */
export type LspSession = {
  /** Makes it see the files as they are now, and opens one. */
  open(file: string): Promise<void>
  /** Makes it see the files as they are now. */
  refresh(): Promise<void>
  ask(method: string, params: unknown, signal: AbortSignal): Promise<unknown>
  /** What it thinks is wrong with an open file. */
  diagnostics(file: string, signal: AbortSignal): Promise<unknown>
  isAlive(): boolean
  end(): Promise<void>
}

const languages: Readonly<Record<string, string>> = {
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.cts': 'typescript',
  '.tsx': 'typescriptreact',
  '.jsx': 'javascriptreact',
  '.json': 'json',
}
const published = 'textDocument/publishDiagnostics'
/** One that only tells by itself has no way to say that it is done: what it told stands when nothing follows for a while. */
const settleMs = 1000
const stepMs = 100
const mostBytes = 4 << 20

export async function startLsp(
  { workspace, argv, env, processes, typescript }: Starting,
  signal: AbortSignal,
): Promise<LspSession> {
  const program = await startPiped({ argv, env, folder: workspace, processes })
  const told = new Map<string, unknown>()
  const wire = lspWire(program, (method, params) => {
    const { uri, diagnostics } = (params ?? {}) as { uri?: string; diagnostics?: unknown }
    if (method === published && uri !== undefined) told.set(uri, diagnostics)
  })
  const canPull = await greet(wire, { workspace, program, typescript, signal })
  const changed = watchSources(workspace)
  await changed()
  const texts = new Map<string, string>()
  let version = 1

  const refresh = async (): Promise<void> => {
    const changes = await changed()
    if (changes.length > 0) wire.notify('workspace/didChangeWatchedFiles', { changes })
    for (const [uri, old] of texts) {
      const text = await textOf(new URL(uri))
      if (text === undefined) {
        wire.notify('textDocument/didClose', { textDocument: { uri } })
        texts.delete(uri)
      } else if (text !== old) {
        wire.notify('textDocument/didChange', {
          textDocument: { uri, version: (version += 1) },
          contentChanges: [{ text }],
        })
        texts.set(uri, text)
        told.delete(uri)
      }
    }
  }

  return {
    refresh,
    async open(file) {
      await refresh()
      const url = pathToFileURL(file)
      if (texts.has(url.href)) return
      const text = (await textOf(url)) ?? ''
      const languageId = languages[extname(file)] ?? 'javascript'
      wire.notify('textDocument/didOpen', { textDocument: { uri: url.href, languageId, version, text } })
      texts.set(url.href, text)
    },
    ask: (method, params, until) => wire.request(method, params, until),
    async diagnostics(file, until) {
      const uri = pathToFileURL(file).href
      if (canPull) {
        const answer = await wire.request('textDocument/diagnostic', { textDocument: { uri } }, until)
        return (answer as { items?: unknown } | null)?.items
      }
      let last: unknown
      for (let calmMs = 0; calmMs < settleMs || last === undefined; calmMs += stepMs) {
        await sleep(stepMs, undefined, { signal: until })
        if (!wire.isOpen()) throw new Error('the language server has ended')
        if (told.get(uri) !== last) calmMs = 0
        last = told.get(uri)
      }
      return last
    },
    isAlive: () => wire.isOpen(),
    async end() {
      await program.end()
    },
  }
}

type Greeting = Pick<Starting, 'workspace' | 'typescript'> & {
  readonly program: PipedProgram
  readonly signal: AbortSignal
}

/** Whether it can be asked what is wrong with a file. */
async function greet(wire: LspWire, { workspace, program, typescript, signal }: Greeting): Promise<boolean> {
  const rootUri = pathToFileURL(workspace).href
  try {
    const answer = await wire.request(
      'initialize',
      {
        processId: null,
        rootUri,
        workspaceFolders: [{ uri: rootUri, name: 'workspace' }],
        initializationOptions: {
          // Else the older server would start npm to fetch types, and answer from one file alone until it has read
          // the project.
          disableAutomaticTypingAcquisition: true,
          tsserver: { useSyntaxServer: 'never', ...(typescript !== undefined && { path: typescript }) },
        },
        capabilities: {
          workspace: { didChangeWatchedFiles: { dynamicRegistration: true }, workspaceFolders: true },
          textDocument: {
            hover: { contentFormat: ['plaintext', 'markdown'] },
            documentSymbol: { hierarchicalDocumentSymbolSupport: true },
            diagnostic: {},
            publishDiagnostics: {},
          },
        },
      },
      signal,
    )
    wire.notify('initialized', {})
    const { capabilities } = answer as { capabilities?: { diagnosticProvider?: unknown } }
    return capabilities?.diagnosticProvider !== undefined
  } catch (error) {
    await program.end()
    throw error
  }
}

async function textOf(url: URL): Promise<string | undefined> {
  const stat = await fs.stat(url).catch(() => undefined)
  return stat?.isFile() && stat.size <= mostBytes ? await fs.readFile(url, 'utf8') : undefined
}
