import { basename } from 'node:path'
import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import type { Offline } from '../../contract/offline.ts'
import type { DataCommand } from '../command-module.ts'
import { renderLogImports } from '../render/session-files.ts'
import { sessionFilesIn } from '../session-files-in.ts'

type Deps = { readonly client: Client; readonly offline: Offline }
type Imported = CommandOutput<'log import'>[number]

export const logImport: DataCommand<'log import'> = {
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
}

// One file that is refused must not keep the others of its folder out.
async function importFile(file: string, { client, offline }: Deps, signal: AbortSignal): Promise<Imported> {
  try {
    const document = await offline.logRead(file, signal)
    const taken = await client.importLog(
      { document, filename: basename(file) },
      { signal, timeoutMs: 120_000 },
    )
    return { file, ...taken }
  } catch (error) {
    if (!(error instanceof AppError) || ['unavailable', 'unauthenticated', 'denied'].includes(error.code))
      throw error
    const refused = { code: error.code, message: error.message }
    return { file, events: 0, repairs: [], duplicate: false, refused }
  }
}
