import type { Signal } from '../../../contract/signal.ts'
import { bounds, line, newest } from './bounds.ts'
import { agentOf } from './calls.ts'
import { type Mark, newer } from './mark.ts'

/** A subagent of the CLI itself: its beginning, its end and its last sign of life may each be unknown. */
export type Subagent = {
  readonly agentId: string
  readonly start?: Mark
  readonly end?: Mark
  readonly seen: Mark
}

/** The subagents after a signal that is about one of them. */
export function withAgent(agents: readonly Subagent[], signal: Signal): readonly Subagent[] {
  const named = signal.kind === 'subagent-start' || signal.kind === 'subagent-end'
  const agentId = named ? line(signal.agentId) : agentOf(signal)
  if (agentId === undefined) return agents
  const mark: Mark = { at: signal.at, source: signal.source }
  const before = agents.find((agent) => agent.agentId === agentId)
  const start = signal.kind === 'subagent-start' ? newer(before?.start, mark) : before?.start
  const end = signal.kind === 'subagent-end' ? newer(before?.end, mark) : before?.end
  const agent: Subagent = {
    agentId,
    ...(start && { start }),
    ...(end && { end }),
    seen: newer(before?.seen, mark),
  }
  return newest([...agents.filter((other) => other.agentId !== agentId), agent], bounds.agents, {
    at: (one) => one.seen.at,
    key: (one) => one.agentId,
  })
}
