import type { AgentEvent, EventOf, EventType } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import { BlobRef } from '../contract/values.ts'
import { reviewIdOf, taskIdOf } from '../core/collaboration/message-protocol.ts'
import { isRecord, type JsonRecord, setField } from '../core/json/json-value.ts'
import { tokenTotal } from '../core/ledger/model-usage.ts'
import type { CallEvents } from './call-events.ts'
import { type CheckFact, type OwnerRecord, Owners, type Placed } from './owners.ts'
import type { EndEvent } from './record-events.ts'

/** Everything of a session tree that a session file can hold. */
export type Collected = {
  readonly root: OwnerRecord
  readonly subs: readonly OwnerRecord[]
  readonly messages: Placed<EventOf<'agent.message.created'>>[]
  readonly annotations: EventOf<'session.annotated'>[]
  readonly rounds: EventOf<'loop.round.completed'>[]
  readonly claims: Placed<EventOf<'claim.verified'>>[]
  summary: EventOf<'result.summary'> | undefined
  errors: number
  firstAt: string
  lastAt: string
}

export type CollectOptions = { readonly session?: SessionId; readonly resolve?: Resolve }

/** Reads the events of a session tree once, in their order; events of other sessions are passed over. */
export function collect(events: Iterable<AgentEvent>, { session, resolve }: CollectOptions): Collected {
  const list = [...events]
  const owners = new Owners(session ?? rootOf(list))
  const found: Collected = {
    root: owners.root,
    subs: owners.subs,
    messages: [],
    annotations: [],
    rounds: [],
    claims: [],
    summary: undefined,
    errors: 0,
    firstAt: '',
    lastAt: '',
  }
  const openCalls = new Map<string, Writable<CallEvents>>()
  list.forEach((raw, position) => {
    if (!owners.holds(raw)) return
    const event = resolveBlobs(raw, resolve)
    owners.note(event)
    found.firstAt ||= event.timestamp
    found.lastAt = event.timestamp > found.lastAt ? event.timestamp : found.lastAt
    const take = takers[event.type] as Taker<EventType> | undefined
    take?.(event, { owners, position, found, openCalls })
  })
  return found
}

/** The session that no other one started; a tree has one. */
function rootOf(events: readonly AgentEvent[]): SessionId {
  const first = events.find((event) => event.type === 'session.started' && !event.payload.parentSessionId)
  return (first ?? events[0])?.sessionId ?? ('' as SessionId)
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }
type Context = {
  readonly owners: Owners
  readonly position: number
  readonly found: Collected
  readonly openCalls: Map<string, Writable<CallEvents>>
}
type Taker<T extends EventType> = (event: EventOf<T>, context: Context) => void

const takeEnd = (event: EventOf<EndEvent['type']>, { owners, position }: Context): void => {
  const owner = owners.closedBy(event)
  if (!owner) return
  // An agent's own end says more than the end of the session around it.
  if (!owner.ended || event.type.startsWith('agent.') || owner === owners.root)
    owner.ended = { event, position }
}

const takeCallEnd = (
  event: EventOf<'tool.call.completed' | 'tool.call.failed' | 'tool.call.denied'>,
  { owners, position, found, openCalls }: Context,
): void => {
  const owner = acting(owners.of(event), { event, position })
  if (event.type !== 'tool.call.completed') found.errors += 1
  const open = openCalls.get(`${event.traceId} ${event.spanId}`)
  if (open) open.ended ??= event
  else owner.calls.push({ ended: event })
}

const takeTokens = (
  event: EventOf<'llm.request.completed' | 'llm.usage.corrected'>,
  { owners }: Context,
): void => {
  const owner = owners.of(event)
  if (event.type === 'llm.request.completed') owner.model ??= event.payload.model
  owner.tokens.set(event.payload.responseId, tokenTotal(event.payload.usage))
}

const takeCheck = (event: CheckFact, { owners }: Context): void => {
  owners.of(event).checks.push(event)
}

/** What each event adds; the others say nothing a session file can hold. */
const takers: { readonly [T in EventType]?: Taker<T> } = {
  'session.started': (event, { owners, position }) => {
    owners.session(event).started ??= { event, position }
  },
  'session.reopened': (event, { owners }) => {
    delete owners.of(event).ended
  },
  'agent.spawned': (event, { owners, position }) => {
    owners.agent(event).spawned ??= { event, position }
  },
  'session.completed': takeEnd,
  'session.failed': takeEnd,
  'agent.completed': takeEnd,
  'agent.failed': takeEnd,
  'agent.cancelled': takeEnd,
  'agent.killed': takeEnd,
  'agent.abandoned': takeEnd,
  'agent.task.assigned': (event, { owners }) => owners.assign(event),
  'task.failed': (event, { owners }) => {
    const owner = owners.of(event)
    if (owner.assigned?.spanId === event.spanId) owner.failed = event
  },
  'tool.call.started': (event, { owners, position, openCalls }) => {
    const call = { started: event }
    acting(owners.of(event), { event, position }).calls.push(call)
    openCalls.set(`${event.traceId} ${event.spanId}`, call)
  },
  'tool.call.completed': takeCallEnd,
  'tool.call.failed': takeCallEnd,
  'tool.call.denied': takeCallEnd,
  'llm.request.completed': takeTokens,
  'llm.usage.corrected': takeTokens,
  'patch.created': (event, { owners }) => {
    const { effects } = owners.of(event)
    for (const { path, change } of event.payload.files) effects.push({ path, change })
  },
  'progress.checkpoint': (event, { owners, position }) => {
    acting(owners.of(event), { event, position }).checkpoints.push({ event, position })
  },
  'verifier.issue.found': (event, { owners }) => {
    owners.of(event).findings.push(event)
  },
  'test.passed': takeCheck,
  'test.failed': takeCheck,
  'claim.verified': (event, { position, found }) => {
    found.claims.push({ event, position })
  },
  'loop.round.completed': (event, { found }) => {
    // One that nobody judged ended with whatever was above it.
    if (event.payload.verdict !== undefined) found.rounds.push(event)
  },
  'agent.message.created': (event, { owners, position, found }) => {
    if (isOfRun(event)) return
    found.messages.push({ event, position })
    const { messageType, payload, from } = event.payload
    if (messageType !== 'task_completion' && messageType !== 'review_result') return
    const told = { payload }
    const doer = owners.doer(from.agentId, reviewIdOf(told) ?? taskIdOf(told) ?? '')
    if (doer) doer.reported = event
  },
  'session.annotated': (event, { found }) => {
    found.annotations.push(event)
  },
  'result.summary': (event, { owners, found }) => {
    if (owners.of(event) === owners.root) found.summary = event
  },
  'budget.exceeded': (_event, { found }) => {
    found.errors += 1
  },
}

/** The events that a session file can change by. */
export const fileEvents: ReadonlySet<EventType> = new Set(Object.keys(takers) as EventType[])

/** The last words of a run: its result, and no message between agents. */
const isOfRun = ({ runId, payload: { messageType, messageId } }: EventOf<'agent.message.created'>): boolean =>
  messageType === undefined && ['answer', 'question'].some((kind) => messageId.startsWith(`${runId}:${kind}`))

function acting(owner: OwnerRecord, act: Placed<AgentEvent>): OwnerRecord {
  owner.firstAct ??= act
  return owner
}

/** Gives the text of a blob reference. */
export type Resolve = (ref: BlobRef) => string

/** The event with every blob reference in its payload replaced by its text; without a resolver, by its preview. */
export function resolveBlobs(event: AgentEvent, resolve: Resolve = shortened): AgentEvent {
  const payload = resolved(event.payload, resolve)
  return payload === event.payload ? event : ({ ...event, payload } as AgentEvent)
}

const shortened: Resolve = ({ preview, bytes }) => `${preview}… [${bytes} bytes]`

/** A copy only where something changed: most events have no blob at all. */
function resolved(value: unknown, resolve: Resolve): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => resolved(item, resolve))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  if (!isRecord(value)) return value
  if (Object.hasOwn(value, '$blob')) {
    const ref = BlobRef.safeParse(value)
    if (ref.success) return resolve(ref.data)
  }
  const copy: JsonRecord = {}
  let isChanged = false
  for (const [key, inner] of Object.entries(value)) {
    const text = resolved(inner, resolve)
    isChanged ||= text !== inner
    setField(copy, key, text)
  }
  return isChanged ? copy : value
}
