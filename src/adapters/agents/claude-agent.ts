import type { DefinitionProblem } from '../../contract/definition-file.ts'
import { canonicalTools, delegatingTools } from '../../contract/tool-names.ts'

type Fields = Readonly<Record<string, unknown>>
/** Something to say about a field. */
type Remark = { readonly field: string } & Pick<DefinitionProblem, 'severity' | 'message'>

/**
 * The frontmatter of a Claude Code agent in our fields. It means here what it means there, and nothing that limits the
 * agent there may be lost: a limit that cannot be kept refuses the file.
 */
export function fromClaude(fields: Fields): { readonly fields: Fields; readonly remarks: readonly Remark[] } {
  const remarks: Remark[] = []
  const error = (field: string, message: string) => remarks.push({ field, severity: 'error', message })
  const note = (field: string, message: string) => remarks.push({ field, severity: 'warning', message })
  for (const field of Object.keys(fields)) {
    const why =
      limits[field] ??
      (looksLikeLimit(field)
        ? 'Claude Code has no such field, so it would limit nothing; write tools'
        : undefined)
    if (why !== undefined) error(field, why)
    else if (unused.has(field)) note(field, `${field} is not used here`)
  }
  const ours = Object.fromEntries(Object.entries(fields).filter(([field]) => !theirs.has(field)))
  if (fields['maxTurns'] !== undefined) ours['max_iters'] = fields['maxTurns']
  if (ours['kind'] === undefined) ours['kind'] = 'subagent'
  const tools = toolsOf(fields, error)
  ours['tools'] = tools
  if (fields['policy'] === undefined) ours['policy'] = inferred(fields, tools, note)
  return { fields: ours, remarks }
}

/** What limits an agent in Claude Code in a way that cannot be kept here. */
const limits: Readonly<Record<string, string | undefined>> = {
  hooks: 'hooks do not run here, and they may be what limits this agent; take them out to use it',
  isolation:
    'this agent is to work in a copy of its own, which it has not here; take the field out to use it',
}

const looksLikeLimit = (field: string): boolean =>
  !theirs.has(field) && /(allowed|disallowed|denied|permitted).?tools?|permissions?$|read.?only/i.test(field)

/** Fields that give no rights, or that give more than we do. */
const unused = new Set(['memory', 'background', 'effort', 'initialPrompt', 'mcpServers'])
const theirs: ReadonlySet<string> = new Set([
  ...Object.keys(limits),
  ...unused,
  'color',
  'disallowedTools',
  'permissionMode',
  'maxTurns',
])

const writing: readonly string[] = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit']
/** Who may not use one of these may use none of them. */
const alike: readonly (readonly string[])[] = [delegatingTools, ['Edit', 'MultiEdit', 'NotebookEdit']]

type Tell = (field: string, message: string) => unknown

/** Left out means all of them, there as here; what is left empty could mean either, so it means nothing. */
function toolsOf({ tools, disallowedTools }: Fields, error: Tell): unknown {
  if (tools === null || tools === '')
    error('tools', 'tools is empty; leave the line out for all tools, or name them')
  const allowed = tools === undefined || tools === null ? ['*'] : wordsOf(tools)
  if (disallowedTools === undefined) return allowed ?? tools
  const denied = wordsOf(disallowedTools)
  if (denied === undefined || allowed === undefined || denied.some((tool) => !/^[\w-]+$/.test(tool))) {
    error('disallowedTools', 'expected names of tools; a tool cannot be narrowed here')
    return allowed ?? tools
  }
  const out = new Set(denied.flatMap((tool) => alike.find((group) => group.includes(tool)) ?? [tool]))
  return (allowed.includes('*') ? canonicalTools : allowed).filter((tool) => !out.has(tool))
}

function wordsOf(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string')
    return value
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '')
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
}

/** Claude Code knows no policy: who has a tool that writes may change files, and a subagent delegates nothing. */
function inferred({ permissionMode, kind }: Fields, tools: unknown, note: Tell): readonly string[] {
  const has = (names: readonly string[]) =>
    Array.isArray(tools) && tools.some((tool) => tool === '*' || names.includes(String(tool)))
  if (permissionMode === 'plan') {
    note('permissionMode', 'plan: it changes no files (policy: [])')
    return []
  }
  const policy = [
    ...(has(writing) ? ['Patch'] : []),
    ...(kind === 'main' && has(delegatingTools) ? ['Delegate'] : []),
  ]
  const also = !policy.includes('Patch') && has(['Bash']) ? '; Bash only looks and runs checks' : ''
  note('tools', `its tools mean policy: [${policy.join(', ')}]${also}`)
  return policy
}

/**
 * YAML as Claude Code takes it: where a line cannot be read, its value is the rest of the line. Nothing that can be read
 * otherwise is changed.
 */
export function quotedValues(yaml: string): string {
  return yaml
    .split('\n')
    .map((line) => {
      const [, key, value] = /^([A-Za-z][\w.-]*): +(.*\S)\s*$/.exec(line) ?? []
      return key === undefined || value === undefined || !needsQuotes(value)
        ? line
        : `${key}: ${JSON.stringify(value)}`
    })
    .join('\n')
}

const needsQuotes = (value: string): boolean =>
  !/^["'[{|>]/.test(value) && (/: |:$/.test(value) || /^[*&!%@`]/.test(value))

/** What is wrong with a line that YAML cannot read, in words. */
export function yamlFault(line: string, said: string): string {
  const [, key, value = ''] = /^\s*(?:- )?([A-Za-z][\w.-]*):\s+(.*?)\s*$/.exec(line) ?? []
  if (key === undefined) return said
  if (/^["']/.test(value))
    return `the quotes of ${key} do not fit: what begins with ${value[0]} ends with ${value[0]}, and nothing follows it`
  if (/: |:$/.test(value))
    return `${key === 'description' ? 'the description' : key} contains ': '; put it in quotes`
  if (/^[*&!%@`]/.test(value))
    return `${key} begins with ${value[0]}, which YAML reads as something else; put it in quotes`
  if (/^[[{]/.test(value))
    return `the list of ${key} is not closed; it ends with ${value.startsWith('[') ? ']' : '}'}`
  return said
}
