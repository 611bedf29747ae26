import { AppError } from '../../contract/errors.ts'
import { type By, catalogue, type Draft, type EventType } from '../../contract/event.ts'
import { muster } from '../../contract/principal.ts'
import { forcedEnding } from '../trace/span-endings.ts'
import { evolve, hasEnded, isAbout, type OpenSpan, type SessionState, spanKey } from './state.ts'

/** A denial needs no start: the call never began. */
const endsWithoutStart = new Set<EventType>(['tool.call.denied'])

/**
 * What should be written for a proposed event, which comes last. An ending also ends every open span below it, deepest
 * first, so that no terminal path leaves one open. Throws when the event contradicts the state.
 */
export function decide(state: SessionState | undefined, draft: Draft, by?: By): Draft[] {
  if (draft.type === 'session.started') {
    if (state) throw new AppError('conflict', `session ${draft.sessionId} has already started`)
    return [draft]
  }
  if (!state) throw new AppError('not_found', `no session ${draft.sessionId}; send its session.started first`)
  if (draft.type === 'session.reopened') {
    if (!hasEnded(state)) throw new AppError('conflict', `session ${draft.sessionId} has not ended`)
    return [draft]
  }
  if (hasEnded(state) && !catalogue[draft.type].isLate)
    throw new AppError(
      'conflict',
      `session ${draft.sessionId} is already ${state.lifecycle}; send session.reopened to continue it`,
    )
  if (draft.type === 'progress.checkpoint') return [numbered(draft, state)]
  const role = catalogue[draft.type].span
  if (role === 'point') return [draft]
  const isReported = isAbout(state, { by })
  const key = spanKey(state, draft)
  const [ofFacts, ofReports] = [state.open.get(key), state.reported?.get(key)]
  if (isReported && ofFacts)
    throw new AppError('denied', `span ${draft.spanId} did not begin by a report, so none is about it`)
  const open = isReported ? ofReports : ofFacts
  if (role === 'start') {
    if (open) throw new AppError('conflict', `span ${draft.spanId} is already open (${open.kind})`)
    // Whoever knows the id of a span before it begins must not be able to keep it from beginning.
    return ofReports ? [endOf(ofReports, draft, reportedEnd), draft] : [draft]
  }
  if (!open && !endsWithoutStart.has(draft.type))
    throw new AppError(
      'conflict',
      `${draft.type}: span ${draft.spanId} is not open; it never began or has ended`,
    )
  if (open && open.kind !== catalogue[draft.type].spanKind)
    throw new AppError('conflict', `${draft.type} cannot end span ${draft.spanId}: that is a ${open.kind}`)
  const end = withRunAbove(draft, open)
  if (isLeaf(state, draft)) return [end]
  const reported = new Set(state.reported?.values())
  const spans = isReported ? [...reported] : [...state.open.values(), ...reported]
  const ends = below(state, draft, spans).map((span) =>
    endOf(span, draft, reported.has(span) ? reportedEnd : {}),
  )
  return [...ends, end]
}

/** Whom an agent worked for is said by its beginning; its end says the same, whoever writes it. */
const withRunAbove = (draft: Draft, open: OpenSpan | undefined): Draft =>
  open?.parentRunId === undefined || draft.parentRunId !== undefined
    ? draft
    : { ...draft, parentRunId: open.parentRunId }

/** The end of what was reported is no more of a fact than its beginning. */
const reportedEnd = { by: { ...muster.by, via: 'report' } } as const satisfies Partial<Draft>

/** Given where the order of events is: two milestones that come at once can never have one number. */
const numbered = (draft: Extract<Draft, { type: 'progress.checkpoint' }>, state: SessionState): Draft => ({
  ...draft,
  payload: { ...draft.payload, number: (state.milestones ?? 0) + 1 },
})

/** Most spans that end have nothing open below them; finding that out must cost nothing. */
function isLeaf(state: SessionState, draft: Draft): boolean {
  const { open, reported } = state
  if (catalogue[draft.type].spanKind === 'session') return open.size === 1 && !reported?.size
  for (const span of open.values()) if (span.parentSpanId === draft.spanId) return false
  for (const span of reported?.values() ?? []) if (span.parentSpanId === draft.spanId) return false
  return true
}

/** Which of the open spans are under the one that ends, deepest first. A session's end takes all, also spans of other traces. */
function below(state: SessionState, draft: Draft, open: readonly OpenSpan[]): OpenSpan[] {
  const own = spanKey(state, draft)
  const spans = open.filter((span) => spanKey(state, span) !== own)
  if (catalogue[draft.type].spanKind === 'session') return spans.toReversed()
  const inside = new Set([own])
  // Parents begin before their children, so one pass in order of beginning finds the whole subtree.
  const found = spans.filter((span) => {
    const isInside =
      span.parentSpanId !== undefined &&
      inside.has(spanKey(state, { traceId: span.traceId, spanId: span.parentSpanId }))
    if (isInside) inside.add(spanKey(state, span))
    return isInside
  })
  return found.toReversed()
}

const cancelling = new Set<EventType>([
  'agent.cancelled',
  'agent.killed',
  'workflow.cancelled',
  'task.cancelled',
])

function endOf(span: OpenSpan, draft: Draft, given: Pick<Draft, 'by'>): Draft {
  if (span.kind === 'session')
    return { ...base(span, draft), type: 'session.completed', payload: { outcome: 'abandoned' } }
  const outcome = draft.type === 'session.completed' ? draft.payload.outcome : undefined
  const cancelled = cancelling.has(draft.type) || outcome === 'cancelled' || outcome === 'killed'
  const reason = `${draft.type}${outcome && outcome !== 'completed' ? ` (${outcome})` : ''}`
  const end = forcedEnding(span.kind, span.facts, { reason, cancelled })
  return { ...base(span, draft), ...given, ...end } as Draft
}

function base(span: OpenSpan, draft: Draft) {
  const { kind: _kind, facts: _facts, ...ids } = span
  return {
    ...ids,
    sessionId: draft.sessionId,
    actor: draft.actor,
    ...(draft.timestamp && { timestamp: draft.timestamp }),
  }
}

/** Tries the whole life of one new session without writing anything; throws what the first refused event would meet. */
export function tryWholeSession(drafts: readonly Draft[]): void {
  let state: SessionState | undefined
  for (const draft of drafts)
    for (const one of decide(state, draft)) state = evolve(state, one, { recordedAt: one.timestamp ?? '' })
}
