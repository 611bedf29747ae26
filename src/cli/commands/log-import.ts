import { basename } from 'node:path'
import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { readNamedFile } from '../read-file.ts'
import { renderLogImports } from '../render/session-files.ts'
import { sessionFilesIn } from '../session-files-in.ts'

type Imported = CommandOutput<'log import'>[number]

export const logImport: DataCommand<'log import'> = {
  run: async ({ files }, io) => {
    const found = await sessionFilesIn(files)
    const client = await (await io.daemon()).client()
    const imported: Imported[] = []
    for (const file of found) {
      io.progress(`${imported.length + 1} of ${found.length}: ${file}`)
      imported.push(await importFile(file, client, io.signal))
    }
    return imported
  },
  render: renderLogImports,
  exitCode: (files) => (files.some(({ refused }) => refused !== undefined) ? errorCodes.failed.exit : 0),
}

// One file that is refused must not keep the others of its folder out.
async function importFile(file: string, client: Client, signal: AbortSignal): Promise<Imported> {
  try {
    const document = parse(await readNamedFile(file, signal), file)
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

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new AppError(
      'invalid',
      `${file} is no JSON (${error.message}); sm log repair may save what is left of it`,
    )
  }
}
