import type { Signal } from '../../../contract/signal.ts'
import { type Subagent, withAgent } from './agents.ts'
import { type Ask, withAsk } from './asks.ts'
import { type Call, withCall } from './calls.ts'
import { type Mark, newer } from './mark.ts'
import type { MarkName, Marks, NamedMark } from './marks.ts'
import { readSignal } from './read-signal.ts'

/**
 * What has been seen of one session: plain data of bounded size. It only gathers; nothing is concluded
 * or taken back, so that the same signals give the same evidence in any order and however often.
 */
export type Evidence = {
  readonly marks: Marks
  readonly calls: readonly Call[]
  readonly asks: readonly Ask[]
  /** What was asked and has been answered from outside. */
  readonly answers: readonly Ask[]
  readonly agents: readonly Subagent[]
}

/** What is known of a session of which nothing was seen yet. */
export const noEvidence: Evidence = { marks: {}, calls: [], asks: [], answers: [], agents: [] }

/** The evidence after one more signal. */
export function observe(evidence: Evidence, signal: Signal): Evidence {
  // A time that is none would win or lose every comparison for ever.
  if (!Number.isFinite(signal.at)) return evidence
  const isOfAgent = signal.kind === 'subagent-start' || signal.kind === 'subagent-end' || !!signal.agent
  const calls =
    signal.kind === 'tool-start' || signal.kind === 'tool-end'
      ? withCall(evidence.calls, signal)
      : evidence.calls
  const asks = signal.kind === 'asking' ? withAsk(evidence.asks, signal) : evidence.asks
  const answers = signal.kind === 'answered' ? withAsk(evidence.answers, signal) : evidence.answers
  const agents = isOfAgent ? withAgent(evidence.agents, signal) : evidence.agents
  const marks = isOfAgent ? agentMarks(signal) : readSignal(signal)
  return { marks: merged(evidence.marks, marks), calls, asks, answers, agents }
}

// Nothing that a subagent does ends or begins the session's own turn; it only shows that something works.
const agentMarks = ({ at, source }: Signal): readonly NamedMark[] => [{ name: 'agent', mark: { at, source } }]

function merged(marks: Marks, added: readonly NamedMark[]): Marks {
  if (added.length === 0) return marks
  const next: Record<MarkName, Mark | undefined> = { ...marks } as Record<MarkName, Mark | undefined>
  for (const { name, mark } of added) next[name] = newer(next[name], mark)
  return next as Marks
}
