import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type {
  Definition,
  DefinitionProblem,
  DefinitionSource,
  ShadowedDefinition,
} from '../../contract/definition-file.ts'

const maxBytes = 1024 * 1024
const mostKnown = 1000
const tickMs = 2000

/** A folder with definition files. */
export type DefinitionFolder = {
  readonly source: DefinitionSource
  readonly dir: string
  /** Files that a link takes out of this folder are refused. */
  readonly within?: string
  /** A folder that also holds other files of this ending: those that are not ours are passed over. */
  readonly isMixed?: boolean
}

/** What came of one file. */
export type ReadDefinition<D> = {
  readonly definition: D | undefined
  readonly problems: readonly DefinitionProblem[]
  /** False when nothing in the file says that it is meant for Muster. */
  readonly isOurs: boolean
}

/** What came of files before, by their path: they are read again and again, and hardly ever change. */
export type KnownFiles<D> = Map<string, KnownFile<D>>

type KnownFile<D> = {
  readonly text: string
  readonly read: ReadDefinition<D>
  /** The state of the file, when no later change can look the same. */
  readonly state: string | undefined
}

/** Which files are definitions, and how one is taken apart. */
export type DefinitionFormat<D> = {
  readonly fileName: RegExp
  readonly known: KnownFiles<D>
  parse(text: string, from: { file: string; source: DefinitionSource }): ReadDefinition<D>
}

/** Reads the definition files of all folders, in the order of their names; what cannot be read is a problem. */
export async function readDefinitions<D>(
  folders: readonly DefinitionFolder[],
  format: DefinitionFormat<D>,
  signal: AbortSignal,
): Promise<ReadDefinition<D>[]> {
  const read: ReadDefinition<D>[] = []
  for (const folder of folders) {
    const files = await filesIn(folder.dir, format.fileName)
    const all = await Promise.all(
      files.map((file) => readOne(join(folder.dir, file), { folder, signal }, format)),
    )
    read.push(...all.filter(({ isOurs }) => isOurs || !folder.isMixed))
  }
  return read
}

async function filesIn(dir: string, fileName: RegExp): Promise<string[]> {
  const names = await readdir(dir).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  return names.filter((name) => !name.startsWith('.') && fileName.test(name)).toSorted()
}

async function readOne<D>(
  file: string,
  at: { folder: DefinitionFolder; signal: AbortSignal },
  { known, ...format }: DefinitionFormat<D>,
): Promise<ReadDefinition<D>> {
  const { source, within } = at.folder
  try {
    if (within !== undefined && !(await isInside(file, within)))
      return refused(file, 'is a link that leaves the project')
    const found = await stat(file)
    if (!found.isFile()) return refused(file, 'is not a regular file')
    if (found.size > maxBytes) return refused(file, `is larger than ${maxBytes} bytes`)
    const { ino, size, mtimeMs, ctimeMs } = found
    // Two changes within a tick of the file system's clock have the same time.
    const state = Date.now() - ctimeMs > tickMs ? `${ino} ${size} ${mtimeMs} ${ctimeMs}` : undefined
    const before = known.get(file)
    if (before && state !== undefined && before.state === state) return before.read
    const text = await readFile(file, { encoding: 'utf8', signal: at.signal })
    const read = before?.text === text ? before.read : format.parse(text, { file, source })
    if (known.size >= mostKnown) known.clear()
    known.set(file, { text, read, state })
    return read
  } catch (error) {
    // Files come and go while a folder is read: an editor saves by renaming.
    if (isMissing(error)) return { definition: undefined, problems: [], isOurs: false }
    if (error instanceof Error && 'code' in error && error.code === 'EACCES')
      return refused(file, 'cannot be read (EACCES)')
    throw error
  }
}

async function isInside(file: string, dir: string): Promise<boolean> {
  return (await realpath(file)).startsWith((await realpath(dir)) + sep)
}

function refused(file: string, why: string): ReadDefinition<never> {
  const problem: DefinitionProblem = { file, line: 1, severity: 'error', message: `this file ${why}` }
  return { definition: undefined, problems: [problem], isOurs: true }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/** Definitions as they were read, in the order of their files, and what an untrusted project may bring of one. */
type FoundDefinitions<D extends Definition> = {
  readonly word: 'agent' | 'crew'
  readonly found: readonly D[]
  readonly trusted: boolean
  /** Takes out of a project's definition what could do harm, and names the fields. */
  harmless(definition: D): { readonly definition: D; readonly held: readonly string[] }
}

/** The definitions in force, and what became of the files that are not. */
type Layered<D extends Definition> = {
  readonly inForce: readonly D[]
  readonly problems: readonly DefinitionProblem[]
  readonly shadowed: readonly ShadowedDefinition[]
}

const rank: Record<DefinitionSource, number> = { shipped: 0, user: 1, project: 2 }

/** Decides which file wins each name and each alias: project over user over shipped, in a layer the first file. */
export function layerDefinitions<D extends Definition>(from: FoundDefinitions<D>): Layered<D> {
  const { word, trusted } = from
  const problems: DefinitionProblem[] = []
  const shadowed: ShadowedDefinition[] = []
  const winners = new Map<string, D>()
  for (const next of from.found.toSorted((a, b) => rank[a.source] - rank[b.source])) {
    const below = winners.get(next.name)
    const isHeldBack = next.source === 'project' && !trusted
    if (below?.source === next.source) {
      problems.push(error(next, `the ${word} ${next.name} is already defined by ${below.file}`))
    } else if (isHeldBack && isTaken(next.name, winners)) {
      problems.push(
        error(
          next,
          `may not replace the ${word} ${next.name}: the project is not trusted; copy it to your own ${word}s folder`,
        ),
      )
    } else {
      if (below !== undefined) shadowed.push({ ...nameOf(below), by: next.file })
      const { definition, held } = isHeldBack ? from.harmless(next) : { definition: next, held: [] }
      for (const field of held)
        problems.push(warning(next, field, `${field} is not used: the project is not trusted`))
      // `sm spawn Engineer` must find a project's own developer as it finds the shipped one.
      const aliases = [...new Set([...definition.aliases, ...(below?.aliases ?? [])])]
      winners.set(next.name, { ...definition, aliases })
    }
  }
  const settled = settleAliases([...winners.values()], trusted)
  return { inForce: settled.inForce, problems: [...problems, ...settled.problems], shadowed }
}

function isTaken(name: string, winners: ReadonlyMap<string, Definition>): boolean {
  return (
    winners.has(name) ||
    [...winners.values()].some(({ source, aliases }) => source !== 'project' && aliases.includes(name))
  )
}

function settleAliases<D extends Definition>(definitions: readonly D[], trusted: boolean) {
  const problems: DefinitionProblem[] = []
  const owners = new Map<string, Definition>(definitions.map((definition) => [definition.name, definition]))
  const strength = ({ source }: Definition) => (source === 'project' && !trusted ? -1 : rank[source])
  const settled = definitions
    .toSorted((a, b) => strength(b) - strength(a))
    .map((definition) => {
      const aliases = definition.aliases.filter((alias) => {
        const owner = owners.get(alias)
        if (owner === undefined) owners.set(alias, definition)
        // Losing an alias to a stronger layer is what layers are for; nobody needs to hear of it.
        else if (owner.name !== definition.name && rank[definition.source] >= rank[owner.source]) {
          problems.push(warning(definition, 'aliases', `the alias ${alias} already means ${owner.name}`))
        }
        return owner === undefined
      })
      return { ...definition, aliases }
    })
  return { inForce: settled.toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems }
}

function nameOf({ name, source, file }: Definition) {
  return { name, source, file }
}

function error({ file, lines }: Definition, message: string): DefinitionProblem {
  return { file, line: lines['name'] ?? 1, severity: 'error', message }
}

function warning({ file, lines }: Definition, field: string, message: string): DefinitionProblem {
  return { file, line: lines[field] ?? 1, severity: 'warning', message }
}
