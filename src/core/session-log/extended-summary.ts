import type { MultiAgentSession } from '../../contract/formats/std-008/session.ts'
import type { AgentSummary, MultiAgentSessionSummary } from '../../contract/formats/std-008/summary.ts'
import { recordedFigures } from './figures.ts'
import { compact } from './json/value.ts'

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
