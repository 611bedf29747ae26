import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import type { CollaborationInfo } from '../../../contract/formats/std-008/agent.ts'
import { compact } from '../json/value.ts'
import { type EndEvent, endingOf } from './ending.ts'
import { identifierFrom } from './message.ts'
import { type Recorded, textOf } from './recorded.ts'

type Head = Omit<AgentSession, 'summary'> & { collaboration?: CollaborationInfo }

/** A session as a file has it, without calls, sub-sessions, messages and summary. */
export function headFrom(started: Recorded<'session.started'>, ended: EndEvent | undefined): Head {
  const { payload, timestamp } = started
  const prompt = payload.prompt === undefined ? '' : textOf(payload.prompt)
  return compact({
    session_id: payload.foreignId || 'unknown',
    task_title: payload.title || payload.name || firstLine(prompt) || 'untitled session',
    task_description: payload.description === undefined ? undefined : textOf(payload.description),
    user_prompt: prompt,
    created_at: timestamp,
    ...endingOf(ended),
    agent: compact({ model_id: payload.model ?? 'unknown', capability_snapshot: payload.capabilitySnapshot }),
    collaboration: payload.collaboration ? collaborationFrom(payload.collaboration) : undefined,
    tool_calls: [],
  })
}

type Collaboration = NonNullable<Recorded<'session.started'>['payload']['collaboration']>

/** Who works together, in the file's words; consensus has none of its own. */
export function collaborationFrom(collaboration: Collaboration): CollaborationInfo {
  const { mode, pattern, orchestrator, participants } = collaboration
  return compact({
    mode,
    pattern: pattern === 'consensus' ? 'peer_to_peer' : pattern,
    orchestrator: identifierFrom(orchestrator),
    participants: participants.map(identifierFrom),
    original_pattern: pattern === 'consensus' ? pattern : undefined,
  })
}

const firstLine = (text: string): string => text.trim().split('\n')[0]?.slice(0, 120) ?? ''
