import { randomUUID } from 'node:crypto'
import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { PaneRef } from '../../ports/terminal.ts'
import type { Connection } from './connection.ts'
import { literal, quote } from './quote.ts'
import { sanitizePaste } from './sanitize-paste.ts'

export type PasteOptions = {
  readonly connection: Connection
  readonly folder: string
  readonly signal: AbortSignal
}

/** Pastes through a file and a buffer: text of any length, and none of it on a command line. */
export async function pasteText(pane: PaneRef, text: string, options: PasteOptions): Promise<void> {
  const { connection, signal } = options
  const clean = sanitizePaste(text)
  if (clean === '') return
  const id = randomUUID()
  const path = join(options.folder, `paste-${id}`)
  const buffer = `muster-${id}`
  try {
    await fs.writeFile(path, clean, { mode: 0o600, flag: 'wx', signal })
    const answers = await connection.run(
      {
        server: pane.server,
        commands: ({ pasteFlags }) => [
          `load-buffer -b ${buffer} ${quote(literal(path))}`,
          // tmux up to 3.3 dies of a paste into a dead pane, so that no turn may come between the look and the paste.
          `if-shell -F -t '${pane.pane}' '#{pane_dead}' 'delete-buffer -b ${buffer} ; display-message -p dead' \
'paste-buffer ${pasteFlags} -b ${buffer} -t ${pane.pane}'`,
        ],
      },
      signal,
    )
    if (answers.some(([line]) => line === 'dead')) throw ended(pane)
  } catch (error) {
    if (error instanceof AppError && (error.code === 'not_found' || error.code === 'failed'))
      await dropBuffer(connection, buffer)
    throw error
  } finally {
    await fs.rm(path, { force: true })
  }
}

export const ended = ({ pane }: PaneRef): AppError =>
  new AppError('conflict', `the program in terminal ${pane} has ended; start the session again`)

async function dropBuffer(connection: Connection, buffer: string): Promise<void> {
  const never = new AbortController().signal
  await connection.run({ commands: () => [`delete-buffer -b ${buffer}`] }, never).catch((error: unknown) => {
    // It was never loaded, or the server is gone with it.
    if (!(error instanceof AppError)) throw error
  })
}
