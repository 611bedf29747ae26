import type { AgentEvent } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { Directory } from '../sessions/directory.ts'
import { textOf } from '../sessions/text-of.ts'

type Entry = { readonly at: string; readonly who: string; readonly text: string }

const types = [
  'agent.spawned',
  'agent.message.created',
  'agent.failed',
  'agent.cancelled',
  'tool.call.started',
  'tool.call.failed',
  'tool.call.denied',
].join(',')
const mostChars = 4000

/** The end of a conversation with our own agents: prompts, answers and tools, as the journal has them. */
export async function ownTranscript(
  directory: Directory,
  sessionId: SessionId,
  limit: number,
): Promise<{ path: null; entries: Entry[] }> {
  const { events } = await directory.events({ sessionId, type: types, limit })
  return { path: null, entries: events.flatMap(entryOf) }
}

function entryOf(event: AgentEvent): Entry[] {
  const entry = (who: string, text: string): Entry[] => [
    { at: event.timestamp, who, text: text.slice(0, mostChars) },
  ]
  switch (event.type) {
    case 'agent.spawned':
      return entry(event.parentRunId ? 'task' : 'user', textOf(event.payload.agentTask ?? ''))
    case 'agent.message.created':
      return entry('agent', textOf(event.payload.text ?? ''))
    case 'agent.failed':
    case 'agent.cancelled':
      return entry(
        'agent',
        `${event.payload.agentId}: ${event.payload.reason ?? 'it ended without an answer'}`,
      )
    case 'tool.call.started':
      return entry('tool', `${event.payload.tool} ${JSON.stringify(event.payload.params ?? {})}`)
    case 'tool.call.failed': {
      const { error } = event.payload
      return entry('tool', `failed: ${typeof error === 'string' ? error : (event.payload.reason ?? '')}`)
    }
    case 'tool.call.denied':
      return entry('tool', `denied: ${textOf(event.payload.reason)}`)
    default:
      return []
  }
}
