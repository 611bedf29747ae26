import { type AgentEvent, eventTypes } from '../../contract/event.ts'
import type { Values } from '../../contract/index-tables.ts'
import { oneLine } from './text.ts'

type Named = Pick<Values<'spans'>, 'kind' | 'name' | 'tool' | 'model' | 'callId'>

/** What a span is called in a tree: a tool's span by its tool, an agent's by its type, a call by its model. */
export function spanName(event: AgentEvent): Named {
  const kind = kinds.get(event.type) ?? kindOf(event.type)
  const payload = event.payload as Readonly<Record<string, unknown>>
  const said = (field: string): string | undefined => {
    const value = payload[field]
    return typeof value === 'string' && value !== '' ? oneLine(value, 120) : undefined
  }
  const name = fields[kind]?.map(said).find((text) => text !== undefined)
  if (kind === 'tool') {
    return { kind, name: `tool.${name ?? 'unknown'}`, tool: said('tool'), callId: said('callId') }
  }
  return kind === 'llm' ? { kind, name, model: said('model') } : { kind, name }
}

// An end says less than its start, so the first field that is there wins; the start's name is kept.
const fields: Readonly<Record<string, readonly string[]>> = {
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

function kindOf(type: string): string {
  if (type === 'agent.task.assigned') return 'task'
  const [family = type, part = ''] = type.split('.')
  return family === 'workflow' && (part === 'phase' || part === 'node') ? part : family
}

const kinds = new Map<string, string>(eventTypes.map((type) => [type, kindOf(type)]))
