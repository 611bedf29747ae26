import { basename } from 'node:path'
import { parseDocument } from 'yaml'
import { isMap } from '../../contract/config/flatten-config.ts'
import { GivenName } from '../../contract/config/names.ts'
import { schemaProblems } from '../../contract/config/schema-problems.ts'
import { type CrewDefinition, CrewFile, crewDefinition, crewKeys } from '../../contract/crew-definition.ts'
import type { DefinitionProblem, DefinitionSource } from '../../contract/definition-file.ts'
import { contentsOf, offsetOf, positionAt } from '../../contract/yaml-position.ts'
import type { ReadDefinition } from '../system/definition-files.ts'

/** Reads the text of one crew file. */
export function parseCrew(
  text: string,
  from: { file: string; source: DefinitionSource },
): ReadDefinition<CrewDefinition> {
  const bare = text.replace(/^\uFEFF/, '')
  const { data, root, problems } = contentsOf(parseDocument(bare, { prettyErrors: false, logLevel: 'error' }))
  const problem = (offset: number, message: string): DefinitionProblem => ({
    file: from.file,
    line: positionAt(bare, offset).line,
    severity: 'error',
    message,
  })
  const broken = (found: readonly DefinitionProblem[]) => ({
    definition: undefined,
    problems: found,
    isOurs: true,
  })
  if (problems.length > 0) return broken(problems.map(({ offset, message }) => problem(offset, message)))
  if (!isMap(data))
    return broken([problem(0, 'a crew file is a map; begin with: name, description, members')])
  const stem = basename(from.file).replace(/\.ya?ml$/i, '')
  if (data['name'] === undefined && !GivenName.safeParse(stem).success)
    return broken([problem(0, 'the file name is not a valid crew name; add a name to the file')])
  const parsed = CrewFile.safeParse(written(data), { reportInput: true })
  if (!parsed.success) {
    const misfits = schemaProblems(parsed.error.issues, knownKeys)
    return broken(
      misfits.map(({ path, part, message }) =>
        problem(offsetOf(root, path, part), `${path.map(String).join('.')}: ${message}`),
      ),
    )
  }
  const lines = Object.fromEntries(
    pathsOf(data).map((path) => [
      path.map(String).join('.'),
      positionAt(bare, offsetOf(root, path, 'key')).line,
    ]),
  )
  return { definition: crewDefinition(parsed.data, { ...from, stem, lines }), problems: [], isOurs: true }
}

const knownKeys = {
  beside: (path: readonly PropertyKey[]) => [
    ...(crewKeys[path.filter((step) => typeof step !== 'number').join('.')] ?? []),
  ],
  all: () => [],
}

// A heading whose keys are all commented out reads as null and means the same as no heading.
function written(data: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
}

type Path = readonly (string | number)[]

function pathsOf(value: unknown, at: Path = []): Path[] {
  const inside: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : isMap(value)
      ? Object.entries(value)
      : []
  return inside.flatMap(([step, child]) => [[...at, step], ...pathsOf(child, [...at, step])])
}
