import { createHash } from 'node:crypto'
import { promises as fs } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import type { NamedProgram } from '../../contract/definition-file.ts'

const mostBytes = 64 << 20
const mostWords = 1000

/**
 * The files of a project that commands name, with the digest of each; `cwd` is where the commands will run. Whoever can
 * write in the project could put another program in such a place, so trusting the command means trusting these too.
 * What they load in turn, or what a word means to `make` or `npm`, cannot be known.
 */
export async function namedPrograms(
  root: string,
  commands: readonly string[],
  cwd = root,
): Promise<NamedProgram[]> {
  const all = commands.flatMap((command) => [command, ...command.split(/[\s'"`;|&()<>=,:$]+/)])
  const words = [...new Set(all)].filter((word) => word !== '')
  if (words.length > mostWords) return [untrustable(`a command of more than ${mostWords} words`)]
  const found = new Map<string, NamedProgram>()
  for (const path of new Set(words.flatMap((word) => [resolve(root, word), resolve(cwd, word)]))) {
    const program = await programAt(root, path)
    if (program) found.set(program.file, program)
  }
  return [...found.values()]
}

async function programAt(root: string, path: string): Promise<NamedProgram | undefined> {
  // Words are whatever somebody wrote: most of them lead nowhere, and some cannot be a path.
  const real = await fs.realpath(path).catch(() => undefined)
  if (real === undefined) return undefined
  // A link in the project that leads out of it counts as what it leads to: it could lead elsewhere tomorrow.
  const inside = [path, real].find((one) => one.startsWith(root + sep))
  const stat = await fs.stat(real).catch(() => undefined)
  if (inside === undefined || !stat?.isFile()) return undefined
  const file = relative(root, inside)
  if (stat.size > mostBytes) return untrustable(file)
  const bytes = await fs.readFile(real).catch(() => undefined)
  return bytes ? { file, sha256: createHash('sha256').update(bytes).digest('hex') } : untrustable(file)
}

/** What cannot be looked at is never what was trusted. */
const untrustable = (file: string): NamedProgram => ({ file, sha256: '' })

/** Whether all of them are what a person trusted. */
export const areTrusted = (
  programs: readonly NamedProgram[],
  trusts: (file: string, sha256: string) => boolean,
): boolean => programs.every(({ file, sha256 }) => sha256 !== '' && trusts(file, sha256))
