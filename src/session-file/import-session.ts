import type { ImportIds } from '../contract/derived-ids.ts'
import { catalogue, type Draft } from '../contract/event.ts'
import type { AgentSession } from '../contract/session-file/agent-session.ts'
import type { MultiAgentSession, SubAgentSession } from '../contract/session-file/multi-agent-session.ts'
import { millisOf } from '../core/json/iso-time.ts'
import { callEvents, callSpan } from './call-events.ts'
import { line, type Run, type Timed } from './event-records.ts'
import { hasCollaboration } from './multi-agent.ts'
import {
  annotationEvent,
  messageEvent,
  sessionEnd,
  sessionStart,
  sessionSummary,
  subSessionEvents,
} from './record-events.ts'
import { indexSession, parentOf, type SessionIndex, triggerOf } from './session-walk.ts'

/**
 * The events of a session file, in an order in which causes come before effects. Everything the file holds is in
 * them: what our events have no field for is kept in `raw`, and the export puts it back.
 */
export function eventsFromSession(session: AgentSession | MultiAgentSession, ids: ImportIds): Draft[] {
  const run: Run = {
    key: 'main',
    runId: ids.run('main'),
    spanId: ids.span('main'),
    actor: (hasCollaboration(session) && line(session.collaboration.orchestrator.agent_id)) || 'main',
  }
  const notBefore = millis(session.created_at)
  const calls = session.tool_calls.flatMap((call, index) => callEvents(call, { run, notBefore, index }, ids))
  const body: Timed[] = hasCollaboration(session) ? [...calls, ...togetherEvents(session, run, ids)] : calls
  const last = latest(body, notBefore)
  session.phase_annotations?.forEach((annotation, index) => {
    body.push({ draft: annotationEvent(annotation, { run, index }, ids), sortAt: last })
  })
  return [
    sessionStart(session, run, ids),
    ...inNestedOrder(body).map((timed) => timed.draft),
    sessionSummary(session, run, ids),
    ...sessionEnd(session, run, ids),
  ]
}

const millis = (time: string): number => millisOf(time) || 0

const latest = (events: readonly Timed[], first: number): number =>
  events.reduce((last, { sortAt }) => Math.max(last, sortAt), first)

/** A run and the stretch of the sorted events it lies in. */
type RunSpan = { readonly run: Run; readonly from: number; readonly to: number }

/** The events of every sub-session and message; a message is in the run of its sender while that lasts. */
function togetherEvents(session: MultiAgentSession, main: Run, ids: ImportIds): Timed[] {
  const index = indexSession(session)
  const runs = subRuns(session, { main, index }, ids)
  const byAgent = new Map<string, RunSpan>()
  const starts = new Map<SubAgentSession, number>()
  const events: Timed[][] = []
  const notBefore = millis(session.created_at)
  // A child never sorts before its parent, whatever the clocks of the file say; parents are looked up, not walked,
  // because a file may chain a hundred thousand of them.
  for (const [sub, place] of parentsFirst(session)) {
    const parent = parentOf(index, sub)?.sub
    const floor = parent ? (starts.get(parent) ?? 0) : notBefore
    const trigger = triggerOf(index, sub)
    const from = Math.max(floor, millis(sub.started_at), trigger ? millis(trigger.started_at) : 0)
    starts.set(sub, from)
    const run = runs.get(sub) as Run
    const calls = sub.tool_calls.flatMap((call, n) =>
      callEvents(call, { run, index: n, notBefore: from }, ids),
    )
    const lastCall = latest(calls, from)
    const [spawned, ended] = subSessionEvents(sub, { run, index: place }, ids)
    const to = Math.max(
      lastCall,
      ended && sub.completed_at !== undefined ? millis(sub.completed_at) : lastCall,
    )
    byAgent.set(sub.agent.agent_id, { run, from, to })
    events.push([{ draft: spawned, sortAt: from }, ...calls])
    if (ended) events.push([{ draft: ended, sortAt: to }])
  }
  const messages = session.messages.map((message, place) => {
    const sortAt = Math.max(notBefore, millis(message.timestamp))
    const sender = byAgent.get(message.from_agent.agent_id)
    const run = sender && sender.from <= sortAt && sortAt <= sender.to ? sender.run : main
    return { draft: messageEvent(message, { run, index: place }, ids), sortAt }
  })
  return [...events.flat(), ...messages]
}

type Tree = { readonly main: Run; readonly index: SessionIndex }

function subRuns({ sub_sessions }: MultiAgentSession, { main, index }: Tree, ids: ImportIds) {
  const keys = new Map(sub_sessions.map((sub, i) => [sub, `sub/${i}`] as const))
  const runOf = (sub: SubAgentSession, key: string): Run => {
    const parent = parentOf(index, sub)
    const above = (parent?.sub && keys.get(parent.sub)) ?? main.key
    const position = parent?.callAt.get(sub.triggered_by_call_id)
    return {
      key,
      runId: ids.run(key),
      spanId: ids.span(key),
      actor: line(sub.agent.agent_id),
      parentRunId: ids.run(above),
      parentSpanId: position === undefined ? ids.span(above) : callSpan(ids, above, position),
      taskId: line(sub.task.task_id),
    }
  }
  return new Map([...keys].map(([sub, key]) => [sub, runOf(sub, key)]))
}

/** Sub-sessions with their places in the file, ordered so that each comes after its parent. */
function parentsFirst({ sub_sessions }: MultiAgentSession): [SubAgentSession, number][] {
  const children = new Map<string, [SubAgentSession, number][]>()
  const ids = new Set(sub_sessions.map((sub) => sub.sub_session_id))
  const ordered: [SubAgentSession, number][] = []
  sub_sessions.forEach((sub, i) => {
    const siblings = children.get(sub.parent_session_id)
    if (!ids.has(sub.parent_session_id)) ordered.push([sub, i])
    else if (siblings) siblings.push([sub, i])
    else children.set(sub.parent_session_id, [[sub, i]])
  })
  // The list grows while it is walked.
  for (const [sub] of ordered) for (const child of children.get(sub.sub_session_id) ?? []) ordered.push(child)
  return ordered
}

type Span = { readonly children: Span[]; latest: number; order: number }

/**
 * Events in an order in which a span ends after all that is below it, whatever the clocks of a file say:
 * the journal refuses an end whose span was already closed by the end of its parent.
 */
export function inNestedOrder(events: readonly Timed[]): Timed[] {
  const spans = spansOf(events)
  const placed = events.map((timed) => {
    const span = spans.get(timed.draft.spanId)
    const isEnd = catalogue[timed.draft.type].span === 'end'
    return {
      timed,
      at: isEnd && span ? span.latest : timed.sortAt,
      // At one time whatever happens comes before what ends, and what is deeper ends first.
      rank: isEnd ? 1 + (spans.size - (span?.order ?? 0)) : 0,
    }
  })
  // Array.prototype.sort is stable, so what happened at one time keeps the order of the file.
  return placed.sort((a, b) => a.at - b.at || a.rank - b.rank).map(({ timed }) => timed)
}

function spansOf(events: readonly Timed[]): Map<string, Span> {
  const spans = new Map<string, Span>()
  const parents = new Map<string, string>()
  for (const { draft, sortAt } of events) {
    const span = spans.get(draft.spanId) ?? { children: [], latest: sortAt, order: 0 }
    span.latest = Math.max(span.latest, sortAt)
    spans.set(draft.spanId, span)
    if (draft.parentSpanId !== undefined) parents.set(draft.spanId, draft.parentSpanId)
  }
  const roots: Span[] = []
  for (const [id, span] of spans) {
    const parent = spans.get(parents.get(id) ?? '')
    if (parent && parent !== span) parent.children.push(span)
    else roots.push(span)
  }
  settle(roots)
  return spans
}

/** Gives each span its place, parents first, then the latest time below it; without recursion, since files nest deep. */
function settle(roots: readonly Span[]): void {
  const order: Span[] = []
  const waiting = [...roots]
  for (let span = waiting.pop(); span; span = waiting.pop()) {
    span.order = order.length
    order.push(span)
    for (const child of span.children) waiting.push(child)
  }
  for (const span of order.toReversed())
    for (const child of span.children) span.latest = Math.max(span.latest, child.latest)
}
