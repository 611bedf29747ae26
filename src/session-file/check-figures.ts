import type { AgentSession, ToolCall } from '../contract/session-file/agent-session.ts'
import type { Report } from '../contract/session-file/issue.ts'
import type { AgentSummary, MultiAgentSession } from '../contract/session-file/multi-agent-session.ts'
import { isWholeSecond, millisOf } from '../core/json/iso-time.ts'
import { recordedFigures } from './figures.ts'
import { type Owner, type SessionIndex, triggerOf } from './session-walk.ts'

type Span = { readonly start: string; readonly end?: string | undefined }

/** Nothing ends before it begins, and what one does lies inside one's own time. */
export function checkTimes(
  session: AgentSession | MultiAgentSession,
  index: SessionIndex,
  report: Report,
): void {
  if (reversed({ start: session.created_at, end: session.completed_at }))
    report('time_reversed', ['completed_at'], 'the session was completed before it was created')
  for (const owner of index.owners) {
    const { sub, path } = owner
    checkCalls(owner, spanOf(session, owner), report)
    if (!sub) continue
    const own = spanOf(session, owner)
    if (reversed(own))
      report('time_reversed', [...path, 'completed_at'], 'it was completed before it started')
    const trigger = triggerOf(index, sub)
    if (trigger && !inside(own, { start: trigger.started_at, end: trigger.ended_at }))
      report('outside_owner', path, `it does not lie inside call ${trigger.call_id}, which started it`)
  }
}

function checkCalls(owner: Owner, outer: Span, report: Report): void {
  let previous: ToolCall | undefined
  owner.calls.forEach((call, n) => {
    const path = [...owner.path, 'tool_calls', n]
    const span = { start: call.started_at, end: call.ended_at }
    if (reversed(span)) report('time_reversed', [...path, 'ended_at'], 'it ended before it started')
    else {
      const recorded = millisOf(call.ended_at) - millisOf(call.started_at)
      if (Math.abs(recorded - call.duration_ms) > slack(call.started_at, call.ended_at))
        report('duration_differs', [...path, 'duration_ms'], `its times are ${recorded} ms apart`)
    }
    if (!inside(span, outer)) report('outside_owner', path, `it does not lie inside the time of ${owner.id}`)
    if (previous && millisOf(previous.started_at) > millisOf(call.started_at))
      report('out_of_order', path, `call ${previous.call_id} stands before it and started later`)
    previous = call
  })
}

/** How far two times may be off: a time without fractions of a second hides almost one. */
export const slack = (...times: readonly string[]): number => (times.some(isWholeSecond) ? 999 : 0)

const spanOf = (session: AgentSession, { sub }: Owner): Span =>
  sub
    ? { start: sub.started_at, end: sub.completed_at }
    : { start: session.created_at, end: session.completed_at }

const reversed = ({ start, end }: Span): boolean => end !== undefined && millisOf(end) < millisOf(start)

function inside(inner: Span, outer: Span): boolean {
  const startsInside = millisOf(inner.start) >= millisOf(outer.start) - slack(inner.start, outer.start)
  const end = inner.end ?? inner.start
  const endsInside = outer.end === undefined || millisOf(end) <= millisOf(outer.end) + slack(end, outer.end)
  return startsInside && endsInside
}

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
