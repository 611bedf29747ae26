import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import type { ToolCall } from '../../../contract/formats/std-001/tool-call.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import { isWholeSecond, millisOf } from '../json/time.ts'
import type { Report } from '../report.ts'
import { type Owner, type SessionIndex, triggerOf } from '../session-index.ts'

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
