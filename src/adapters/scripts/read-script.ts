import { promises as fs } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { ScriptMeta, ScriptSource } from '../../contract/script.ts'
import type { ParsedScript } from './parse-script.ts'

const mostFiles = 20
const mostBytes = 256 << 10

/** How a file of a script is parsed, wherever that is done. */
export type ParseScript = (name: string, text: string, isMain: boolean) => Promise<ParsedScript>

/** A script with all that it imports, and what it says of itself; it is parsed, and nothing of it runs. */
export async function readScript(
  file: string,
  parse: ParseScript,
): Promise<{ readonly meta: ScriptMeta; readonly source: ScriptSource }> {
  const folder = await fs.realpath(dirname(file)).catch(() => dirname(file))
  const main = basename(file)
  if (!/\.(ts|mts|mjs)$/.test(main))
    throw new AppError('invalid', `${file} is not a script; its name must end in .ts, .mts or .mjs`)
  const first = await readSource(folder, main)
  const files: Record<string, string> = { [main]: first }
  const { meta, imports } = await parse(main, first, true)
  const waiting = [...imports]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name in files) continue
    const text = await readSource(folder, name)
    files[name] = text
    mustFit(files)
    if (!name.endsWith('.json')) waiting.push(...(await parse(name, text, false)).imports)
  }
  return { meta: meta as ScriptMeta, source: { main, files } }
}

/** Refuses what is too large to be kept with its run. */
export function mustFit(files: ScriptSource['files']): void {
  const texts = Object.values(files)
  if (texts.length > mostFiles)
    throw new AppError('invalid', `a script and its imports may have at most ${mostFiles} files`)
  if (texts.reduce((sum, { length }) => sum + length, 0) > mostBytes) throw tooLarge()
}

const tooLarge = () =>
  new AppError('too_large', `a script and its imports may have at most ${mostBytes} characters`)

/** A file that lies in the folder itself: a link that leads out of it is none. */
async function readSource(folder: string, name: string): Promise<string> {
  const file = await fs.realpath(join(folder, name)).catch(() => undefined)
  if (file === undefined) throw new AppError('not_found', `there is no file ${join(folder, name)}`)
  if (relative(folder, file).startsWith('..'))
    throw new AppError('denied', `${name} is outside ${folder}; a script may import only files next to it`)
  const { size } = await fs.stat(file)
  if (size > mostBytes) throw tooLarge()
  return fs.readFile(file, 'utf8')
}
