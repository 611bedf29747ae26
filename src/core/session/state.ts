import {
  type By,
  catalogue,
  type Draft,
  type DraftOf,
  type EventType,
  isReport,
  isTold,
} from '../../contract/event.ts'
import type { SpanKind } from '../../contract/event-definition.ts'
import type { RunId, SessionId, SpanId, TraceId } from '../../contract/ids.ts'
import type { BlobRef, Lifecycle, Permit } from '../../contract/values.ts'
import { evolveApprovals, type OpenApproval } from '../approvals/open-approvals.ts'
import { withPermit } from '../approvals/permissions.ts'
import { evolveEnds, type MessageEnds } from '../messages/message-ends.ts'
import { evolveQueue, type Queued } from '../messages/message-queue.ts'
import { type ClosingFacts, closingFacts } from '../trace/span-endings.ts'
import { type BoardVersions, evolveBoard } from './blackboard-items.ts'
import { evolveManaged, type Managed } from './managed.ts'

/** A span that has begun and not ended; only these are kept, ended ones are rows of the index. */
export type OpenSpan = {
  readonly kind: SpanKind
  readonly traceId: TraceId
  readonly spanId: SpanId
  readonly parentSpanId?: SpanId
  readonly runId: RunId
  readonly parentRunId?: RunId
  readonly taskId?: string
  readonly workflowId?: string
  readonly phase?: string
  readonly facts: ClosingFacts
}

/** What deciding needs to know of one session. */
export type SessionState = {
  readonly sessionId: SessionId
  /** The trace it began in; spans of others may be open in it too. */
  readonly traceId?: TraceId
  lifecycle: Lifecycle
  parentSessionId?: SessionId
  /** The run that it works for, of the workflow above it. */
  readonly parentRunId?: RunId
  /** Its parent died without ending it; until it has another. */
  isOrphan?: boolean
  /** Levels below the root, and how many sessions were ever begun below this one. */
  depth: number
  descendants: number
  /** Only of sessions that Muster runs or observes. */
  managed?: Managed
  /** When its last turn began, and with which words. */
  lastPrompt?: { readonly atMs: number; readonly text: string }
  /** Whether something was wrong with it when that was last told. */
  health?: string
  /** Its last turn broke off, and why; until it is seen to do something else. */
  brokenTurn?: { readonly atMs: number; readonly why: string }
  queue?: readonly Queued[]
  messageEnds?: MessageEnds
  asks?: readonly OpenApproval[]
  notes?: TurnNotes
  /** The number of its last milestone. */
  milestones?: number
  board?: BoardVersions
  /** What was allowed for the rest of this session. */
  permits?: readonly Permit[]
  /** By `spanKey`, in the order they began. */
  readonly open: Map<string, OpenSpan>
  /** Those that began by a report about a session that Muster runs: nothing is decided on them. */
  reported?: Map<string, OpenSpan>
}

const lifecycleTypes = new Set<EventType>([
  'session.started',
  'session.completed',
  'session.failed',
  'session.reopened',
  'session.state.changed',
])

/** Whether something is decided on events of a type, as long as Muster runs their session. */
export const isControl = (type: EventType): boolean =>
  catalogue[type].reporter === 'daemon' || lifecycleTypes.has(type)

/** What stands beside an event and state depends on: when it was written, and who stands behind it. */
export type Given = { readonly recordedAt: string; readonly by?: By | undefined }

/** Whether somebody only reports about a session, which Muster runs; of any other the reports are all there is. */
export const isAbout = (
  state: Pick<SessionState, 'managed'>,
  given: { readonly by?: By | undefined },
): boolean => state.managed !== undefined && isTold(given)

const ended = new Set<Lifecycle>(['completed', 'error', 'abandoned', 'killed', 'cancelled'])

export const hasEnded = (state: SessionState): boolean => ended.has(state.lifecycle)

/** Whether a run is a turn of its session, and not that of an agent which works inside of it. */
export const isTurn = (
  state: Pick<SessionState, 'parentRunId'>,
  run: { readonly parentRunId?: RunId | undefined },
): boolean => run.parentRunId === undefined || run.parentRunId === state.parentRunId

/** Most spans are of the session's own trace, where the span's id is enough and no text need be joined. */
export const spanKey = (
  state: Pick<SessionState, 'traceId'>,
  span: { traceId: string; spanId: string },
): string => (span.traceId === state.traceId ? span.spanId : span.traceId + span.spanId)

/**
 * What is now true. The state given is used up: the caller keeps only the answer, which lets a session
 * with thousands of open spans take an event without copying them.
 */
export function evolve(
  state: SessionState | undefined,
  event: Draft,
  given: Given,
): SessionState | undefined {
  if (event.type === 'session.started') return begun(event, given)
  if (!state) return undefined
  // A type that an older release wrote, or a newer one, says nothing to this one.
  if (!(event.type in catalogue)) return state
  const role = catalogue[event.type].span
  if (role !== 'point') {
    const spans = isAbout(state, given) ? (state.reported ??= new Map()) : state.open
    if (role === 'start') spans.set(spanKey(state, event), openSpan(event))
    else spans.delete(spanKey(state, event))
  }
  // What others report is shown. How a session stands that Muster runs, and what anyone may do, is not theirs to say.
  if (
    isReport(given) &&
    (state.managed ? isControl(event.type) : catalogue[event.type].reporter === 'daemon')
  )
    return state
  if (event.type === 'session.completed') {
    state.lifecycle = event.payload.outcome
    if (event.payload.outcome === 'abandoned') state.isOrphan = true
  } else if (event.type === 'session.failed') state.lifecycle = 'error'
  else if (event.type === 'session.reopened') {
    state.lifecycle = 'running'
    delete state.brokenTurn
  } else if (event.type === 'session.state.changed') {
    state.lifecycle = event.payload.to
    setBrokenTurn(state, event, given)
    setNotes(state, event)
  } else evolveRest(state, event, given)
  return state
}

function setQueue(state: SessionState, event: Draft, given: Given): void {
  const ends = evolveEnds(state.messageEnds, event, { ...given, queue: state.queue })
  if (ends) state.messageEnds = ends
  state.queue = evolveQueue(state.queue, event, given)
}

function setBrokenTurn(state: SessionState, event: DraftOf<'session.state.changed'>, given: Given): void {
  const { from, to, detail = 'the turn failed' } = event.payload
  if (to === 'failed' && (from !== 'failed' || !state.brokenTurn))
    state.brokenTurn = { atMs: Date.parse(event.timestamp ?? given.recordedAt), why: detail }
  // A program that is started again comes back to the conversation as it was left.
  else if (to !== 'failed' && to !== 'starting') delete state.brokenTurn
}

/** What only few events touch. */
function evolveRest(state: SessionState, event: Draft, { recordedAt, by }: Given): void {
  switch (event.type) {
    case 'session.updated': {
      const { parentSessionId, depth } = event.payload
      if (parentSessionId === null) delete state.parentSessionId
      else if (parentSessionId) state.parentSessionId = parentSessionId
      if (parentSessionId !== undefined) delete state.isOrphan
      if (depth !== undefined) state.depth = depth
      setManaged(state, by ? event : withoutBudget(event), recordedAt)
      break
    }
    case 'agent.spawned':
      if (isTurn(state, event) && event.payload.kind === 'main')
        state.lastPrompt = {
          atMs: Date.parse(event.timestamp ?? recordedAt),
          text: typeof event.payload.agentTask === 'string' ? event.payload.agentTask : '',
        }
      setNotes(state, event)
      break
    case 'session.launched':
      delete state.health
      setManaged(state, event, recordedAt)
      break
    case 'signal.changed':
      if (event.payload.signal === 'health') state.health = event.payload.to
      break
    case 'message.queued':
    case 'message.delivered':
    case 'message.accepted':
    case 'message.failed':
      setQueue(state, event, { recordedAt, by })
      break
    case 'approval.requested':
    case 'approval.granted':
    case 'approval.rejected':
    case 'approval.expired':
      state.asks = evolveApprovals(state.asks, event, recordedAt)
      if (by && event.type === 'approval.granted' && event.payload.scope === 'session')
        state.permits = withPermit(state.permits, event.payload.permit)
      setNotes(state, event)
      break
    case 'agent.idle':
      setNotes(state, event)
      break
    case 'progress.checkpoint':
      // Those of older journals have no number: they count by their order.
      state.milestones = event.payload.number ?? (state.milestones ?? 0) + 1
      setNotes(state, event)
      break
    case 'blackboard.item.created':
    case 'blackboard.item.updated':
      state.board = evolveBoard(event, recordedAt, state.board)
      break
    case 'budget.exceeded':
      // One of its agents or workflows may have a limit of its own; that holds nobody else.
      if (state.open.get(spanKey(state, event))?.kind === 'session') setManaged(state, event, recordedAt)
      break
    default:
  }
}

/** Who raised it is not known in journals of before: then it is as it was at the start. */
const withoutBudget = ({
  payload: { budget: _budget, ...payload },
  ...event
}: DraftOf<'session.updated'>): Draft => ({
  ...event,
  payload,
})

function setNotes(state: SessionState, event: Draft): void {
  const notes = event.type === 'agent.spawned' ? notesAfter(state, event) : evolveNotes(state.notes, event)
  if (notes) state.notes = notes
  else delete state.notes
}

function setManaged(state: SessionState, event: Draft, recordedAt: string): void {
  const managed = evolveManaged(state.managed, event, recordedAt)
  if (managed) state.managed = managed
}

function begun(event: DraftOf<'session.started'>, given: Given): SessionState {
  const { parentSessionId, origin, depth = 0 } = event.payload
  const managed = isReport(given) ? undefined : evolveManaged(undefined, event, given.recordedAt)
  return {
    sessionId: event.sessionId,
    traceId: event.traceId,
    lifecycle: managed && origin === 'managed' ? 'spawned' : 'running',
    depth: managed ? depth : 0,
    descendants: 0,
    ...(managed && { managed }),
    ...(parentSessionId && { parentSessionId }),
    ...(event.parentRunId && { parentRunId: event.parentRunId }),
    open: new Map([[event.spanId, openSpan(event)]]),
  }
}

function openSpan(event: Draft): OpenSpan {
  const span: { -readonly [K in keyof OpenSpan]: OpenSpan[K] } = {
    kind: catalogue[event.type].spanKind as SpanKind,
    traceId: event.traceId,
    spanId: event.spanId,
    runId: event.runId,
    facts: closingFacts(event),
  }
  if (event.parentSpanId) span.parentSpanId = event.parentSpanId
  if (event.parentRunId) span.parentRunId = event.parentRunId
  if (event.taskId) span.taskId = event.taskId
  if (event.workflowId) span.workflowId = event.workflowId
  if (event.phase) span.phase = event.phase
  return span
}

/** What was said of a session since its last prompt; the next prompt makes it old. */
type TurnNotes = {
  readonly isIdleTold?: boolean
  /** Somebody said that it is not finished: the same evidence does not ask again. */
  readonly isEndRefused?: boolean
  readonly milestone?: { readonly message: string; readonly progressPercent?: number }
}

/** A prompt makes them old; that a turn hands work on does not. */
const notesAfter = (state: SessionState, spawned: Draft): TurnNotes | undefined =>
  isTurn(state, spawned) ? undefined : state.notes

const milestoneChars = 400

/** What is now noted; undefined when nothing is. */
function evolveNotes(notes: TurnNotes | undefined, event: Draft): TurnNotes | undefined {
  switch (event.type) {
    case 'agent.idle':
      return { ...notes, isIdleTold: true }
    case 'session.state.changed':
      return event.payload.to === 'running' && notes?.isIdleTold ? { ...notes, isIdleTold: false } : notes
    case 'approval.rejected':
      return event.payload.subject === 'termination' ? { ...notes, isEndRefused: true } : notes
    case 'progress.checkpoint': {
      const { message, progressPercent } = event.payload
      const milestone = {
        message: textOf(message).slice(0, milestoneChars),
        ...(progressPercent !== undefined && { progressPercent }),
      }
      return { ...notes, milestone }
    }
    default:
      return notes
  }
}

const textOf = (text: string | BlobRef): string => (typeof text === 'string' ? text : text.preview)
