import { randomUUID } from 'node:crypto'
import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { PaneRef, Paste } from '../../ports/terminal.ts'
import type { Connection } from './connection.ts'

type PasteOptions = {
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

/**
 * Text that stays one paste: a terminal code in it could end the paste early and type the rest, and a carriage return
 * would submit what stands before it.
 */
function sanitizePaste(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/(?![\t\n])\p{Cc}/gu, '')
}

/** Keeps the id of the last paste at the terminal itself, which outlives whoever made it. */
export const pastedOption = '@muster-pasted'

const refused = 'muster-refused'

type Conditional = {
  readonly commands: readonly string[]
  readonly otherwise?: readonly string[]
  readonly stamp: string | undefined
}

/** What moves when somebody types: the cursor, once the program has drawn it, and the time of their last key at once. */
export const stampFormat = '#{cursor_x}:#{cursor_y}:#{session_activity}'

/**
 * Runs commands in a living pane whose stamp is what it was, else others. tmux looks and acts in one turn, so that
 * no key of a person and no end of the program comes between; up to 3.3 it dies of a paste into a dead pane.
 */
export function whereUnmoved(pane: string, { commands, otherwise = [], stamp }: Conditional): string {
  const isSame = stamp === undefined ? '1' : `#{==:${stampFormat},${stamp}}`
  const isFit = `#{&&:#{!=:#{pane_dead},1},${isSame}}`
  const refuse = [...otherwise, `display-message -p -t '${pane}' '${refused} #{pane_dead}'`]
  // Keys would go to a person's scrolling, not to the program.
  const act = [`copy-mode -q -t '${pane}'`, ...commands]
  return `if-shell -F -t '${pane}' '${isFit}' ${quote(act.join(' ; '))} ${quote(refuse.join(' ; '))}`
}

/** Whether the commands ran; throws when the program has ended. */
export function didRun(pane: PaneRef, answers: readonly (readonly string[])[]): boolean {
  const refusal = answers.flat().find((line) => line.startsWith(refused))
  if (refusal === `${refused} 1`)
    throw new AppError('conflict', `the program in terminal ${pane.pane} has ended; start the session again`)
  return refusal === undefined
}

/** One argument of a tmux command line: any text but NUL arrives as it is. */
export function quote(text: string): string {
  if (text.includes('\0'))
    throw new AppError('invalid', 'text for tmux contains a NUL character; remove it and try again')
  return `'${text.replace(/'/g, String.raw`'\''`).replace(/\p{Cc}/gu, octal)}'`
}

/** Protects text in an argument that tmux would expand as a format: `#(...)` in a path would run as a command. */
export function literal(text: string): string {
  // Before a bracket tmux keeps doubled signs as they are, so the bracket itself is written as a format.
  return text.replace(/#/g, '##').replace(/##\[/g, '###{l:[}')
}

// A line feed would end the command. What has the high bit is no control byte in UTF-8.
const octal = (char: string): string =>
  char > '\u007f' ? char : `'"\\${char.charCodeAt(0).toString(8).padStart(3, '0')}"'`

/** The commands that press keys in a pane, in order. */
export function keyCommands(pane: string, keys: readonly string[]): readonly string[] {
  return keys.map((key) => {
    // Some versions swallow the named key; the byte that a terminal sends for it always arrives.
    if (key === 'Enter') return `send-keys -t '${pane}' -H 0d`
    if (/^\P{Cc}$/u.test(key)) return `send-keys -t '${pane}' -l -- ${quote(key)}`
    // A name that tmux does not know would be typed letter by letter.
    if (!named.test(key))
      throw new AppError(
        'invalid',
        `"${key}" is not a key; use one character or a name such as Enter, Escape or C-c`,
      )
    return `send-keys -t '${pane}' -- ${quote(key)}`
  })
}

const named =
  /^(?:[CMS]-)*(?:Escape|Tab|BTab|BSpace|Space|Up|Down|Left|Right|Home|End|PageUp|PPage|PageDown|NPage|Insert|IC|Delete|DC|F(?:[1-9]|1[0-2])|(?<=-)[!-~])$/
