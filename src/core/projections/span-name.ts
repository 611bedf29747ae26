import { type AgentEvent, eventTypes } from '../../contract/event.ts'
import { clip } from './text.ts'

/** What a span is called in a tree: a tool's span by its tool, an agent's by its type, a call by its model. */
export function spanName(event: AgentEvent): string | undefined {
  const kind = spanKind(event)
  const said = nameFields[kind]?.map((field) => textField(event, field)).find((name) => name !== undefined)
  return kind === 'tool' ? `tool.${said ?? 'unknown'}` : said
}

// An end says less than its start, so the first field that is there wins; the start's name is kept.
const nameFields: Readonly<Record<string, readonly string[]>> = {
  session: ['name', 'title'],
  agent: ['agentType'],
  task: ['taskId'],
  tool: ['tool'],
  llm: ['model'],
  message: ['messageId'],
  approval: ['subject'],
  effect: ['effect'],
  workflow: ['name', 'workflowId'],
  phase: ['phase'],
  node: ['node'],
}

/** The kind of a span: the family of its events. */
export function spanKind(event: AgentEvent): string {
  return kinds.get(event.type) ?? kindOf(event.type)
}

export const toolOf = (event: AgentEvent): string | undefined =>
  spanKind(event) === 'tool' ? textField(event, 'tool') : undefined
export const modelOf = (event: AgentEvent): string | undefined =>
  spanKind(event) === 'llm' ? textField(event, 'model') : undefined
export const callId = (event: AgentEvent): string | undefined =>
  spanKind(event) === 'tool' ? textField(event, 'callId') : undefined

function textField(event: AgentEvent, field: string): string | undefined {
  const value = (event.payload as Readonly<Record<string, unknown>>)[field]
  return typeof value === 'string' && value !== '' ? clip(value, 120) : undefined
}

function kindOf(type: string): string {
  if (type === 'agent.task.assigned') return 'task'
  const [family = type, part = ''] = type.split('.')
  return family === 'workflow' && (part === 'phase' || part === 'node') ? part : family
}

const kinds = new Map<string, string>(eventTypes.map((type) => [type, kindOf(type)]))
