import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { AgentSummary } from '../../../contract/formats/std-008/summary.ts'
import { recordedFigures } from '../figures.ts'
import { isWholeSecond, millisOf } from '../json/time.ts'
import type { Report } from '../report.ts'
import type { SessionIndex } from '../session-index.ts'
import { slack } from './times.ts'

/** The base summary against the calls and times of the file. */
export function checkBaseCounts(session: AgentSession, index: SessionIndex, report: Report): void {
  const { summary } = session
  const own = session.tool_calls.length
  const all = index.owners.reduce((sum, owner) => sum + owner.calls.length, 0)
  if (summary.tool_calls_count !== own && summary.tool_calls_count !== all)
    report('count_differs', ['summary', 'tool_calls_count'], `the file has ${own} calls`)
  if (session.completed_at === undefined) return
  const ms = millisOf(session.completed_at) - millisOf(session.created_at)
  if (Math.abs(ms - summary.total_duration_ms) > slack(session.created_at, session.completed_at))
    report('duration_differs', ['summary', 'total_duration_ms'], `the session took ${ms} ms`)
}

/** The figures of a collaboration against its records. */
export function checkCounts(session: MultiAgentSession, index: SessionIndex, report: Report): void {
  checkToolUses(index, report)
  const figures = recordedFigures(session)
  const { agents, tasks, review_iterations, final_verdict } = session.summary
  const differs = (path: readonly (string | number)[], recorded: number | string) =>
    report('count_differs', ['summary', ...path], `the records say ${recorded}`)

  const recorded = new Map(figures.agents.map(({ summary }) => [summary.agent_id, summary]))
  for (const [path, declared] of declaredAgents(agents)) {
    const own = recorded.get(declared.agent_id)
    if (!own) report('agent_unlisted', ['summary', ...path, 'agent_id'], `${declared.agent_id} takes no part`)
    else checkAgent({ declared, own, path, session }, report)
  }
  for (const key of ['total', 'completed', 'failed'] as const)
    if (tasks[key] !== figures.tasks[key]) differs(['tasks', key], figures.tasks[key])
  if (review_iterations !== figures.reviewIterations) differs(['review_iterations'], figures.reviewIterations)
  if (final_verdict !== undefined && final_verdict !== figures.lastVerdict)
    differs(['final_verdict'], figures.lastVerdict ?? 'nothing')
}

function checkToolUses(index: SessionIndex, report: Report): void {
  for (const owner of index.owners)
    owner.calls.forEach((call, n) => {
      const info = call.subagent_info
      const sub = info?.sub_session_id === undefined ? undefined : index.byId.get(info.sub_session_id)?.sub
      if (!info || !sub) return
      const path = [...owner.path, 'tool_calls', n, 'subagent_info']
      const count = sub.tool_calls.length
      if (info.tool_uses !== undefined && info.tool_uses !== count)
        report('count_differs', [...path, 'tool_uses'], `${sub.sub_session_id} has ${count} calls`)
      const listed = info.tools_breakdown?.reduce((sum, tool) => sum + tool.count, 0)
      if (listed !== undefined && listed !== count)
        report('count_differs', [...path, 'tools_breakdown'], `${sub.sub_session_id} has ${count} calls`)
    })
}

type AgentPath = readonly (string | number)[]

function declaredAgents(agents: MultiAgentSession['summary']['agents']): [AgentPath, AgentSummary][] {
  const list = (key: 'developers' | 'reviewers' | 'others'): [AgentPath, AgentSummary][] =>
    (agents[key] ?? []).map((summary, i) => [['agents', key, i], summary])
  return [
    [['agents', 'architect'], agents.architect],
    ...list('developers'),
    ...(agents.reviewer ? [[['agents', 'reviewer'], agents.reviewer] as [AgentPath, AgentSummary]] : []),
    ...list('reviewers'),
    ...list('others'),
  ]
}

type Compared = {
  readonly declared: AgentSummary
  readonly own: AgentSummary
  readonly path: AgentPath
  readonly session: MultiAgentSession
}

function checkAgent({ declared, own, path, session }: Compared, report: Report): void {
  if (declared.tool_calls_count !== own.tool_calls_count)
    report(
      'count_differs',
      ['summary', ...path, 'tool_calls_count'],
      `${declared.agent_id} has ${own.tool_calls_count} calls`,
    )
  const tolerance = isWholeSecond(session.created_at) ? 999 : 0
  if (Math.abs(declared.duration_ms - own.duration_ms) > tolerance)
    report(
      'duration_differs',
      ['summary', ...path, 'duration_ms'],
      `${declared.agent_id} worked ${own.duration_ms} ms`,
    )
}
