import type { Draft } from '../../../contract/event.ts'
import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { ImportIds } from '../derived-ids.ts'
import { compact, isRecord, type JsonRecord } from '../json/value.ts'
import { hasCollaboration } from '../multi-agent.ts'
import { headFrom } from '../rebuild/head.ts'
import { draft, line, type Run, rawFor, recorded } from './drafting.ts'
import { agentOf } from './message-events.ts'

type Session = AgentSession | MultiAgentSession
const lists = ['tool_calls', 'sub_sessions', 'messages', 'phase_annotations'] as const

/** The event that opens an imported session and carries everything of it that is no list. */
export function sessionStart(session: Session, run: Run, ids: ImportIds): Draft {
  const payload = {
    title: line(session.task_title),
    prompt: session.user_prompt,
    model: line(session.agent.model_id),
    origin: 'imported' as const,
    foreignId: line(session.session_id),
    ...compact({
      description: session.task_description,
      capabilitySnapshot: session.agent.capability_snapshot && line(session.agent.capability_snapshot),
      agent: hasCollaboration(session) ? agentOf(session.collaboration.orchestrator) : undefined,
      collaboration: hasCollaboration(session) ? collaborationOf(session) : undefined,
    }),
  }
  const format = hasCollaboration(session) ? 'std-008' : 'std-001'
  const bare = recorded('session.started', session.created_at, payload)
  const raw = rawFor(headOnly(session), headFrom(bare, endOf(session)), { format })
  const event = recorded('session.started', session.created_at, { ...payload, raw })
  return draft(event, { run, key: 'session/started' }, ids)
}

/** The declared figures of a session, whole. */
export function sessionSummary(session: Session, run: Run, ids: ImportIds): Draft {
  const { summary } = session
  const short = (paths: readonly string[]) => paths.filter((path) => path.length <= 4096)
  const payload = {
    totalDurationMs: summary.total_duration_ms,
    toolCallsCount: summary.tool_calls_count,
    filesCreated: short(summary.files_created),
    filesModified: short(summary.files_modified),
    declared: summary as unknown as JsonRecord,
    ...compact({ errorsEncountered: summary.errors_encountered, summary: summary.text }),
  }
  const event = recorded('result.summary', endTime(session), payload)
  return draft(event, { run, key: 'session/summary' }, ids)
}

/** The event that closes an imported session, when it has ended. */
export function sessionEnd(session: Session, run: Run, ids: ImportIds): Draft[] {
  const ended = endOf(session)
  return ended ? [draft(ended, { run, key: 'session/ended' }, ids)] : []
}

/** A session without its lists and summary; a list that is there is there as an empty one. */
export function headOnly(session: Session): JsonRecord {
  const { summary: _summary, ...head } = session as unknown as JsonRecord
  for (const key of lists) if (Array.isArray(head[key])) head[key] = []
  return head
}

function endOf(session: Session) {
  if (session.status === 'in_progress') return undefined
  if (session.status === 'success')
    return recorded('session.completed', endTime(session), { outcome: 'completed' })
  const reason = session.termination_reason === undefined ? undefined : line(session.termination_reason)
  return recorded('session.failed', endTime(session), compact({ reason }))
}

function endTime(session: Session): string {
  return session.completed_at ?? session.tool_calls.at(-1)?.ended_at ?? session.created_at
}

function collaborationOf({ collaboration }: MultiAgentSession) {
  const { original_pattern } = collaboration
  const isConsensus = isRecord(collaboration) && original_pattern === 'consensus'
  return {
    mode: collaboration.mode,
    pattern: isConsensus ? ('consensus' as const) : collaboration.pattern,
    orchestrator: agentOf(collaboration.orchestrator),
    participants: collaboration.participants.map(agentOf),
  }
}
