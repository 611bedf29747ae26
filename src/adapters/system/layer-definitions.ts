import type {
  Definition,
  DefinitionProblem,
  DefinitionSource,
  ShadowedDefinition,
} from '../../contract/definition-file.ts'

/** Definitions as they were read, in the order of their files, and what an untrusted project may bring of one. */
export type FoundDefinitions<D extends Definition> = {
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
