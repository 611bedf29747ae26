import { basename } from 'node:path'
import { parseDocument } from 'yaml'
import { type AgentDefinition, AgentFrontmatter, agentDefinition } from '../../contract/agent-definition.ts'
import { isMap } from '../../contract/config/flatten-config.ts'
import { GivenName } from '../../contract/config/names.ts'
import { nearest } from '../../contract/config/nearest.ts'
import { schemaProblems } from '../../contract/config/schema-problems.ts'
import type { DefinitionProblem, DefinitionSource } from '../../contract/definition-file.ts'
import { contentsOf, offsetOf, positionAt } from '../../contract/yaml-position.ts'
import { fromClaude, quotedValues, yamlFault } from './claude-agent.ts'

/** What one file gives: an agent, or the reasons why it gives none. */
type ParsedAgent = {
  readonly agent: AgentDefinition | undefined
  readonly problems: readonly DefinitionProblem[]
  readonly hasFrontmatter: boolean
}

/** Reads the text of one agent file. */
export function parseAgent(
  text: string,
  { dialect, ...from }: { file: string; source: DefinitionSource; dialect?: 'claude' | undefined },
): ParsedAgent {
  const split = splitFrontmatter(text)
  if ('missing' in split) {
    const message = missingWords[split.missing]
    // Claude Code passes over what has none: a page about the others, mostly.
    const severity = dialect === 'claude' && split.missing === 'start' ? 'warning' : 'error'
    const problem = { file: from.file, line: 1, severity, message } as const
    return { agent: undefined, problems: [problem], hasFrontmatter: split.missing === 'end' }
  }
  const { yaml, line, body } = split
  const { data, root, broken, isQuoted } = readYaml(yaml, dialect)
  const at = (offset: number) => positionAt(yaml, offset).line + line - 1
  const found: Finding[] = broken.map(({ offset, message }) => ({
    line: at(offset),
    severity: isQuoted ? 'warning' : 'error',
    message: yamlFault(yaml.split('\n')[positionAt(yaml, offset).line - 1] ?? '', message),
  }))
  const written = isMap(data) ? data : {}
  const lines = Object.fromEntries(Object.keys(written).map((key) => [key, at(offsetOf(root, [key], 'key'))]))
  if ((broken.length === 0 || isQuoted) && !isMap(data))
    found.push({ line, severity: 'error', message: 'the frontmatter is not a map' })
  const { fields, remarks } =
    dialect === 'claude' && isMap(data) ? fromClaude(written) : { fields: written, remarks: [] }
  found.push(...remarks.map(({ field, ...remark }) => ({ line: lines[field] ?? 1, ...remark })))
  found.push(...unknownFields(fields, lines))

  const known = Object.fromEntries(Object.entries(fields).filter(([key]) => fieldNames.includes(key)))
  const parsed = AgentFrontmatter.safeParse(known, { reportInput: true })
  const misfits = parsed.success ? [] : schemaProblems(parsed.error.issues, knownFields)
  for (const { path, part, message } of misfits) {
    const key = path.map(String).join('.')
    found.push({ line: at(offsetOf(root, path, part)), severity: 'error', message: `${key}: ${message}` })
  }
  const stem = basename(from.file).replace(/\.md$/i, '')
  if (fields['name'] === undefined && !GivenName.safeParse(stem).success) {
    found.push({
      line: 1,
      severity: 'error',
      message: 'the file name is not a valid agent name; add a name to the frontmatter',
    })
  }
  const problems = found.map((finding) => ({ file: from.file, ...finding }))
  const isUsable = parsed.success && !problems.some(({ severity }) => severity === 'error')
  const agent = isUsable ? agentDefinition(parsed.data, { ...from, stem, lines, prompt: body }) : undefined
  return { agent, problems, hasFrontmatter: true }
}

/** What the YAML holds; where Claude Code reads what YAML cannot, so do we for its files. */
function readYaml(yaml: string, dialect: 'claude' | undefined) {
  const parse = (text: string) => contentsOf(parseDocument(text, { prettyErrors: false, logLevel: 'error' }))
  const { problems: broken, ...read } = parse(yaml)
  if (broken.length === 0 || dialect !== 'claude') return { ...read, broken, isQuoted: false }
  const quoted = parse(quotedValues(yaml))
  return quoted.problems.length > 0
    ? { ...read, broken, isQuoted: false }
    : { data: quoted.data, root: quoted.root, broken, isQuoted: true }
}

type Finding = Omit<DefinitionProblem, 'file'>

const missingWords = {
  start: 'no frontmatter: the first line of an agent file is ---',
  end: 'the frontmatter is never closed: a second line of --- is missing',
}

const fieldNames = Object.keys(AgentFrontmatter.shape)
const nested: Readonly<Record<PropertyKey, string[]>> = {
  policy: ['allow', 'delegate_targets'],
  agent: ['max_iters'],
}
const knownFields = {
  beside: (path: readonly PropertyKey[]) => nested[path[0] ?? ''] ?? [],
  all: () => [],
}

// A misspelt gate would fall back to its default unnoticed; a field of another tool does no harm.
function unknownFields(fields: Record<string, unknown>, lines: Record<string, number>): Finding[] {
  const unknown = Object.keys(fields).filter((key) => !fieldNames.includes(key))
  return unknown.map((key) => {
    const near = nearest(key, fieldNames)
    const advice = near === undefined ? ', not used' : `; did you mean ${near}?`
    const severity = near === undefined ? 'warning' : 'error'
    return { line: lines[key] ?? 1, severity, message: `${key}: unknown field${advice}` }
  })
}

/** The two halves of an agent file; `line` is where the YAML begins. */
type SplitFile =
  | { readonly yaml: string; readonly line: number; readonly body: string }
  | { readonly missing: 'start' | 'end' }

/** Takes a file apart at its two `---` lines; line ends of any kind become `\n`. */
function splitFrontmatter(text: string): SplitFile {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  if (!isFence(lines[0])) return { missing: 'start' }
  const end = lines.findIndex((line, index) => index > 0 && isFence(line))
  if (end === -1) return { missing: 'end' }
  return {
    yaml: lines.slice(1, end).join('\n'),
    line: 2,
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  }
}

function isFence(line: string | undefined): boolean {
  return line !== undefined && line.trimEnd() === '---'
}
