import { randomUUID } from 'node:crypto'
import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { PaneRef, Paste } from '../../ports/terminal.ts'
import type { Connection } from './connection.ts'
import { literal, quote } from './quote.ts'
import { sanitizePaste } from './sanitize-paste.ts'
import { didRun, pastedOption, whereUnmoved } from './unmoved.ts'

export type PasteOptions = {
  readonly connection: Connection
  readonly folder: string
  readonly signal: AbortSignal
}

/** Pastes through a file and a buffer: text of any length, and none of it on a command line. */
export async function pasteText(
  pane: PaneRef,
  { text, id, stamp }: Paste,
  options: PasteOptions,
): Promise<boolean> {
  const { connection, signal } = options
  const clean = sanitizePaste(text)
  if (clean === '') return true
  const own = randomUUID()
  const path = join(options.folder, `paste-${own}`)
  const buffer = `muster-${own}`
  try {
    await fs.writeFile(path, clean, { mode: 0o600, flag: 'wx', signal })
    const answers = await connection.run(
      {
        server: pane.server,
        commands: ({ pasteFlags }) => [
          `load-buffer -b ${buffer} ${quote(literal(path))}`,
          whereUnmoved(pane.pane, {
            commands: [
              `set-option -p -t '${pane.pane}' ${pastedOption} ${quote(id)}`,
              `paste-buffer ${pasteFlags} -b ${buffer} -t '${pane.pane}'`,
            ],
            otherwise: [`delete-buffer -b ${buffer}`],
            stamp,
          }),
        ],
      },
      signal,
    )
    return didRun(pane, answers)
  } catch (error) {
    if (error instanceof AppError && (error.code === 'not_found' || error.code === 'failed'))
      await dropBuffer(connection, buffer)
    throw error
  } finally {
    await fs.rm(path, { force: true })
  }
}

async function dropBuffer(connection: Connection, buffer: string): Promise<void> {
  const never = new AbortController().signal
  await connection.run({ commands: () => [`delete-buffer -b ${buffer}`] }, never).catch((error: unknown) => {
    // It was never loaded, or the server is gone with it.
    if (!(error instanceof AppError)) throw error
  })
}
