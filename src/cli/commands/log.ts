import { basename, dirname, join, parse } from 'node:path'
import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import type { Offline } from '../../contract/offline.ts'
import { defineCommands, type View } from '../command-module.ts'
import { sessionFilesIn, writeDocument } from '../named-files.ts'
import { plural } from '../render/figures.ts'
import { painter } from '../render/paint.ts'
import { jsonText, oneLine } from '../render/safe-text.ts'

/** Session files: checking, reading, writing, repairing. */
export const logCommands = defineCommands({
  'log validate': {
    run: async ({ files }, io) => {
      const offline = await io.offline()
      const found: CommandOutput<'log validate'> = []
      for (const file of files) {
        const unread = (refused: Refusal) => ({ file, valid: false, errors: [], warnings: [], refused })
        found.push(
          await (files.length === 1
            ? offline.logValidate(file, io.signal)
            : besideOthers(() => offline.logValidate(file, io.signal), unread)),
        )
      }
      return found
    },
    render: renderValidations,
    exitCode: (files) => (files.every(({ valid }) => valid) ? 0 : errorCodes.failed.exit),
  },
  'log import': {
    run: async ({ files }, io) => {
      const found = await sessionFilesIn(files)
      const offline = await io.offline()
      const client = await (await io.daemon()).client()
      const imported: Imported[] = []
      for (const file of found) {
        io.progress(`${imported.length + 1} of ${found.length}: ${file}`)
        imported.push(await importFile(file, { client, offline }, io.signal))
      }
      return imported
    },
    render: renderLogImports,
    exitCode: (files) => (files.some(({ refused }) => refused !== undefined) ? errorCodes.failed.exit : 0),
  },
  'log export': {
    run: async ({ session, out }, io) => {
      const client = await (await io.daemon()).client()
      const exported = await client.exportLog({ id: session }, { signal: io.signal })
      if (out === undefined) return exported
      const place = { out, cwd: io.cwd, filename: exported.filename }
      return { ...exported, written: await writeDocument(exported.document, place) }
    },
    render: ({ document, written }) => (written === undefined ? jsonText(document, 2) : oneLine(written)),
  },
  'log migrate': {
    run: async ({ file, out }, io) => {
      const converted = await (await io.offline()).logMigrate(file, io.signal)
      if (out === undefined) {
        for (const { path, message } of converted.repairs) io.say(`${path || '/'}: ${message}`)
        return converted
      }
      const place = { out, cwd: io.cwd, filename: basename(file) }
      return { ...converted, written: await writeDocument(converted.document, place) }
    },
    render: renderConversion,
  },
  'log repair': {
    run: async ({ file, out = beside(file) }, io) => {
      const repaired = await (await io.offline()).logRepair(file, io.signal)
      const place = { out, cwd: io.cwd, filename: basename(file) }
      return { ...repaired, written: await writeDocument(repaired.document, place) }
    },
    render: renderConversion,
  },
})

type Deps = { readonly client: Client; readonly offline: Offline }

type Imported = CommandOutput<'log import'>[number]

const importFile = (file: string, { client, offline }: Deps, signal: AbortSignal): Promise<Imported> =>
  besideOthers<Imported>(
    async () => {
      const document = await offline.logRead(file, signal)
      const taken = await client.importLog(
        { document, filename: basename(file) },
        { signal, timeoutMs: 120_000 },
      )
      return { file, ...taken }
    },
    (refused) => ({ file, events: 0, repairs: [], duplicate: false, refused }),
  )

type Refusal = { readonly code: string; readonly message: string }

/** One file that is refused must not keep the others out; where nothing can be done at all, they are not tried. */
async function besideOthers<T>(take: () => Promise<T>, instead: (refused: Refusal) => T): Promise<T> {
  try {
    return await take()
  } catch (error) {
    if (!(error instanceof AppError) || ['unavailable', 'unauthenticated'].includes(error.code)) throw error
    return instead({ code: error.code, message: error.message })
  }
}

// The end of a name says which format it has, so the word goes before it.
function beside(file: string): string {
  const { name } = parse(file)
  const stem = name.replace(/-multi$/, '')
  return join(dirname(file), `${stem}-repaired${name.slice(stem.length)}.json`)
}

/** What is wrong with session files, by place. */
export function renderValidations(files: CommandOutput<'log validate'>, { color }: View): string {
  const paint = painter(color)
  return files
    .flatMap(({ file, valid, errors, warnings, refused }) => [
      refused
        ? oneLine(refused.message)
        : `${oneLine(file)}: ${valid ? paint('green', 'valid') : paint('red', 'not valid')}${remarks(errors.length, warnings.length)}`,
      ...[...errors, ...warnings].map(({ path, severity, code, message }) => {
        const word = severity === 'error' ? paint('red', 'error') : paint('yellow', 'warning')
        return `  ${oneLine(path) || '/'}: ${word}: ${oneLine(message)} (${code})`
      }),
    ])
    .join('\n')
}

/** What became of each session file. */
export function renderLogImports(files: CommandOutput<'log import'>, { color }: View): string {
  const paint = painter(color)
  return files
    .map(({ file, shortId, events, repairs, duplicate, refused }) => {
      if (refused !== undefined)
        return `${oneLine(file)}: ${paint('red', 'refused')}: ${oneLine(refused.message)}`
      if (duplicate) return `${oneLine(file)}: here already, as ${shortId}`
      const mended = repairs.length === 0 ? '' : `, ${plural(repairs.length, 'repair')}`
      return `${oneLine(file)}: ${shortId} (${plural(events, 'event')}${mended})`
    })
    .join('\n')
}

/** A converted file: what was changed when it was written, the document itself when it was not. */
export function renderConversion({ document, repairs, written }: CommandOutput<'log migrate'>): string {
  if (written === undefined) return jsonText(document, 2)
  return [
    ...repairs.map(({ path, message }) => `${oneLine(path) || '/'}: ${oneLine(message)}`),
    `${oneLine(written)} (${plural(repairs.length, 'repair')})`,
  ].join('\n')
}

function remarks(errors: number, warnings: number): string {
  const parts = [
    errors > 0 ? plural(errors, 'error') : '',
    warnings > 0 ? plural(warnings, 'warning') : '',
  ].filter(Boolean)
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}
