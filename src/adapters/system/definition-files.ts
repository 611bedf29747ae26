import { createHash } from 'node:crypto'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import type {
  Definition,
  DefinitionProblem,
  DefinitionSource,
  HeldDefinition,
  NamedProgram,
  ShadowedDefinition,
} from '../../contract/definition-file.ts'
import type { AgentProject } from '../../ports/definitions.ts'
import { areTrusted, namedPrograms } from './named-programs.ts'

const maxBytes = 1024 * 1024
const mostKnown = 1000
const tickMs = 2000

/** A folder with definition files. */
export type DefinitionFolder = {
  readonly source: DefinitionSource
  readonly dir: string
  /** Whose folder it is: a file that a link takes out of the project is refused, one that is not trusted held back. */
  readonly project?: AgentProject
  /** Written for another program: its own rules hold for what is left out, and it replaces nothing of ours. */
  readonly dialect?: 'claude'
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

/** What came of one file, and what its content is known by. */
type FoundFile<D> = ReadDefinition<D> & {
  readonly sha256: string
  /** Files of the project that its commands name. */
  readonly programs: readonly NamedProgram[]
  /** False of a project's file that nobody trusts as it is. */
  readonly isTrusted: boolean
  /** Of a folder of another program. */
  readonly isGuest: boolean
}

/** What came of files before, by their path: they are read again and again, and hardly ever change. */
export type KnownFiles<D> = Map<string, KnownFile<D>>

type Digested<D> = ReadDefinition<D> & { readonly sha256: string }

type KnownFile<D> = {
  readonly read: Digested<D>
  /** The state of the file, when no later change can look the same. */
  readonly state: string | undefined
}

/** Which files are definitions, and how one is taken apart. */
export type DefinitionFormat<D> = {
  readonly fileName: RegExp
  readonly known: KnownFiles<D>
  parse(
    text: string,
    from: { file: string; source: DefinitionSource; dialect?: DefinitionFolder['dialect'] },
  ): ReadDefinition<D>
  /** The words of the commands that a definition has run. */
  commands?(definition: D): readonly string[]
}

/** Reads the definition files of all folders, in the order of their names; what cannot be read is a problem. */
export async function readDefinitions<D>(
  folders: readonly DefinitionFolder[],
  format: DefinitionFormat<D>,
  signal: AbortSignal,
): Promise<FoundFile<D>[]> {
  const read: FoundFile<D>[] = []
  for (const folder of folders) {
    const files = await filesIn(folder, format.fileName)
    const all = await Promise.all(
      files.map(async (name) => {
        const file = join(folder.dir, name)
        return judged(file, await readOne(file, { folder, signal }, format), { folder, format })
      }),
    )
    read.push(...all.filter(({ isOurs }) => isOurs || !folder.isMixed))
  }
  return read
}

/** The digest is that of the bytes that were parsed, so what is trusted is what is used. */
async function judged<D>(
  file: string,
  read: Digested<D>,
  { folder, format }: { folder: DefinitionFolder; format: DefinitionFormat<D> },
): Promise<FoundFile<D>> {
  const { definition, sha256 } = read
  const isGuest = folder.dialect !== undefined
  if (folder.project === undefined || definition === undefined)
    return { ...read, programs: [], isTrusted: folder.project === undefined, isGuest }
  const { root, trusts } = folder.project
  const programs = await namedPrograms(root, format.commands?.(definition) ?? [])
  const isTrusted = trusts(relative(root, file), sha256) && areTrusted(programs, trusts)
  return { ...read, programs, isTrusted, isGuest }
}

/** Claude Code looks into the folders below, too: collections sort their agents by what they are for. */
async function filesIn({ dir, dialect }: DefinitionFolder, fileName: RegExp): Promise<string[]> {
  const names = await readdir(dir, { recursive: dialect === 'claude' }).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const isHidden = (name: string) => name.split(sep).some((part) => part.startsWith('.'))
  return names.filter((name) => !isHidden(name) && fileName.test(basename(name))).toSorted()
}

async function readOne<D>(
  file: string,
  at: { folder: DefinitionFolder; signal: AbortSignal },
  { known, ...format }: DefinitionFormat<D>,
): Promise<Digested<D>> {
  const { source, project, dialect } = at.folder
  try {
    if (project !== undefined && !(await isInside(file, project.root)))
      return refused(file, 'is a link that leaves the project')
    const found = await stat(file)
    if (!found.isFile()) return refused(file, 'is not a regular file')
    if (found.size > maxBytes) return refused(file, `is larger than ${maxBytes} bytes`)
    const { ino, size, mtimeMs, ctimeMs } = found
    // Two changes within a tick of the file system's clock have the same time.
    const state = Date.now() - ctimeMs > tickMs ? `${ino} ${size} ${mtimeMs} ${ctimeMs}` : undefined
    const before = known.get(file)
    if (before && state !== undefined && before.state === state) return before.read
    const bytes = await readFile(file, { signal: at.signal })
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const read =
      before?.read.sha256 === sha256
        ? before.read
        : { ...format.parse(bytes.toString('utf8'), { file, source, ...(dialect && { dialect }) }), sha256 }
    if (known.size >= mostKnown) known.clear()
    known.set(file, { read, state })
    return read
  } catch (error) {
    // Files come and go while a folder is read: an editor saves by renaming.
    if (isMissing(error)) return { definition: undefined, problems: [], isOurs: false, sha256: '' }
    if (error instanceof Error && 'code' in error && error.code === 'EACCES')
      return refused(file, 'cannot be read (EACCES)')
    throw error
  }
}

async function isInside(file: string, dir: string): Promise<boolean> {
  return (await realpath(file)).startsWith((await realpath(dir)) + sep)
}

function refused(file: string, why: string): Digested<never> {
  const problem: DefinitionProblem = { file, line: 1, severity: 'error', message: `this file ${why}` }
  return { definition: undefined, problems: [problem], isOurs: true, sha256: '' }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/** Files as they were read, in the order of their names, and what one that is not trusted may bring. */
type FoundDefinitions<D extends Definition> = {
  readonly word: 'agent' | 'crew'
  readonly found: readonly FoundFile<D>[]
  /** Takes out of a project's definition what could do harm, and names the fields and what they would do. */
  harmless(definition: D): { readonly definition: D; readonly held: readonly HeldField[] }
}

type HeldField = { readonly field: string; readonly says: readonly string[] }

/** The definitions in force, and what became of the files that are not. */
type Layered<D extends Definition> = {
  readonly inForce: readonly D[]
  readonly problems: readonly DefinitionProblem[]
  readonly shadowed: readonly ShadowedDefinition[]
  readonly held: readonly HeldDefinition[]
}

const rank: Record<DefinitionSource, number> = { shipped: 0, user: 1, project: 2 }

/** Decides which file wins each name and each alias: project over user over shipped, in a layer the first file. */
export function layerDefinitions<D extends Definition>(from: FoundDefinitions<D>): Layered<D> {
  const { word } = from
  const files = from.found.flatMap((file) => (file.definition ? [{ ...file, next: file.definition }] : []))
  const problems: DefinitionProblem[] = []
  const shadowed: ShadowedDefinition[] = []
  const heldBack: HeldDefinition[] = []
  const winners = new Map<string, D>()
  const order = ({ next, isGuest }: (typeof files)[number]) => rank[next.source] + (isGuest ? guests : 0)
  const own = new Map<string, D>()
  for (const { next, isTrusted, isGuest, sha256, programs } of files.toSorted(
    (a, b) => order(a) - order(b),
  )) {
    const named = isGuest ? ownerOf(next, own) : undefined
    if (named) {
      problems.push(
        warning(
          next,
          'name',
          `${next.name} is the name of an ${word} of Muster's (${named.file}), which counts; rename this one, or copy it to ${word}s/ to replace that`,
        ),
      )
      shadowed.push({ ...nameOf(next), by: named.file })
      continue
    }
    const below = winners.get(next.name)
    const { definition, held } = isTrusted ? { definition: next, held: [] } : from.harmless(next)
    const taken = [next.name, ...next.aliases].filter((name) => isTaken(name, winners))
    const says = [
      ...held.flatMap((field) => field.says),
      ...(taken.length > 0 ? [`takes the place of ${[...new Set(taken)].join(', ')}`] : []),
    ]
    if (!isTrusted && says.length > 0) heldBack.push({ file: next.file, sha256, programs, says })
    if (below?.source === next.source) {
      problems.push(error(next, `the ${word} ${next.name} is already defined by ${below.file}`))
    } else if (!isTrusted && taken.includes(next.name)) {
      problems.push(
        error(
          next,
          `may not replace the ${word} ${next.name}: this file is not trusted as it is; see: sm trust, or copy it to your own ${word}s folder`,
        ),
      )
    } else {
      if (below !== undefined) shadowed.push({ ...nameOf(below), by: next.file })
      for (const { field } of held)
        problems.push(
          warning(next, field, `${field} is not used: this file is not trusted as it is; see: sm trust`),
        )
      // `sm spawn Engineer` must find a project's own developer as it finds the shipped one.
      const aliases = [...new Set([...definition.aliases, ...(below?.aliases ?? [])])]
      winners.set(next.name, { ...definition, aliases })
      if (!isGuest) own.set(next.name, { ...definition, aliases })
    }
  }
  const weak = new Set(files.filter(({ isTrusted }) => !isTrusted).map(({ next }) => next.file))
  const settled = settleAliases([...winners.values()], weak)
  return {
    inForce: settled.inForce,
    problems: [...problems, ...settled.problems],
    shadowed,
    held: heldBack,
  }
}

/** After all of ours. */
const guests = 10

const ownerOf = <D extends Definition>({ name, aliases }: D, own: ReadonlyMap<string, D>): D | undefined =>
  [...own.values()].find((one) =>
    [name, ...aliases].some((word) => one.name === word || one.aliases.includes(word)),
  )

function isTaken(name: string, winners: ReadonlyMap<string, Definition>): boolean {
  return [...winners.values()].some(
    (one) => one.source !== 'project' && (one.name === name || one.aliases.includes(name)),
  )
}

function settleAliases<D extends Definition>(definitions: readonly D[], weak: ReadonlySet<string>) {
  const problems: DefinitionProblem[] = []
  const owners = new Map<string, Definition>(definitions.map((definition) => [definition.name, definition]))
  const strength = ({ source, file }: Definition) => (weak.has(file) ? -1 : rank[source])
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
