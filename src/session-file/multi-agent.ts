import type { AgentSession } from '../contract/session-file/agent-session.ts'
import type {
  AgentSummary,
  MultiAgentSession,
  MultiAgentSessionSummary,
} from '../contract/session-file/multi-agent-session.ts'
import { compact, isRecord } from '../core/json/json-value.ts'
import { recordedFigures } from './figures.ts'

/** Whether a file name, or the content of a file, is that of a multi-agent session. */
export function isMultiAgentSession(filenameOrSession: unknown): boolean {
  if (typeof filenameOrSession === 'string') return filenameOrSession.endsWith('-multi.json')
  const collaboration = isRecord(filenameOrSession) ? filenameOrSession['collaboration'] : undefined
  return isRecord(collaboration) && collaboration['mode'] === 'multi_agent'
}

/** Whether a session has the multi-agent fields, also one that was only ever a single agent's. */
export const hasCollaboration = (session: AgentSession | MultiAgentSession): session is MultiAgentSession =>
  'collaboration' in session

/** A single session seen as a collaboration of one; a multi-agent session is returned as it is. */
export function asMultiAgent(session: AgentSession | MultiAgentSession): MultiAgentSession {
  if (hasCollaboration(session)) return session
  const { summary, ...base } = session
  const recorded = {
    ...base,
    collaboration: {
      mode: 'single' as const,
      pattern: 'master_worker' as const,
      orchestrator: { agent_id: 'main', agent_type: 'architect' as const },
      participants: [],
    },
    sub_sessions: [],
    messages: [],
  }
  return { ...recorded, summary: { ...extendedSummary(recorded), ...summary } }
}

/** When a session was last touched; older files do not say it. */
export const updatedAt = (session: AgentSession): string =>
  session.updated_at ?? session.completed_at ?? session.created_at

type Extension = Pick<
  MultiAgentSessionSummary,
  'agents' | 'tasks' | 'review_iterations' | 'final_verdict' | 'last_verdict'
>

/** What a multi-agent summary adds to the base one, computed from the records. */
export function extendedSummary(session: Omit<MultiAgentSession, 'summary'>): Extension {
  const { agents, tasks, reviewIterations, lastVerdict } = recordedFigures(session)
  const [architect, ...workers] = agents
  const ofType = (type: string): AgentSummary[] =>
    workers.filter(({ agent }) => agent.agent_type === type).map(({ summary }) => summary)
  const reviewers = ofType('reviewer')
  const others = ofType('architect')
  const isFinal = lastVerdict === 'approved' || lastVerdict === 'rejected'
  return compact({
    agents: compact({
      architect: (architect as (typeof agents)[number]).summary,
      developers: ofType('developer'),
      reviewer: reviewers.at(-1),
      reviewers: reviewers.length > 1 ? reviewers.slice(0, -1) : undefined,
      others: others.length > 0 ? others : undefined,
    }),
    tasks,
    review_iterations: reviewIterations,
    final_verdict: isFinal ? lastVerdict : undefined,
    last_verdict: isFinal ? undefined : lastVerdict,
  })
}
