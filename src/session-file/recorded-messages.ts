import { derivedUuid } from '../contract/derived-ids.ts'
import type {
  AgentIdentifier,
  AgentMessage,
  SubAgentSession,
} from '../contract/session-file/multi-agent-session.ts'
import { reviewIdOf, taskIdOf } from '../core/collaboration/message-protocol.ts'
import { compact } from '../core/json/json-value.ts'
import type { Collected } from './collect.ts'
import { textOf } from './event-records.ts'
import { isReview } from './figures.ts'
import { isWorkflow, type OwnerRecord, type Placed } from './owners.ts'
import { endWord, messageFrom } from './record-events.ts'
import type { FileAgents } from './recorded-subs.ts'

type Context = { readonly agents: FileAgents; readonly subs: ReadonlyMap<OwnerRecord, SubAgentSession> }

/** The messages of a recorded session: what agents said, and what the protocol records of what they did. */
export function recordedMessages(found: Collected, { agents, subs }: Context): AgentMessage[] {
  const said = found.messages.map(({ event, position }): Spoken => {
    const message = messageFrom(event)
    const { from, to } = event.payload
    return {
      message: { ...message, from_agent: { ...agents.named(from) }, to_agent: { ...agents.named(to) } },
      position,
      rank: 0,
    }
  })
  // A workflow records its protocol whole.
  if (isWorkflow(found.root)) return numbered(said.map(({ message }) => message))
  const known = new Set(said.flatMap(({ message }) => subjects(message)))
  const flow = [...subs].flatMap(([owner, sub]) => flowMessages({ owner, sub, said }, agents))
  const claims = claimMessages(found, agents, subs)
  const derived = [...flow, ...claims].filter(
    ({ message }) => !subjects(message).some((key) => known.has(key)),
  )
  const inOrder = [...said, ...derived].sort((a, b) => a.position - b.position || a.rank - b.rank)
  return numbered(inOrder.map(({ message }) => message))
}

/** What a message is and is about; a message that was really sent replaces the derived one. */
function subjects(message: AgentMessage): string[] {
  if (message.message_type === 'task_progress' || message.message_type === 'feedback') return []
  if (message.message_type === 'acknowledgment')
    return message.reply_to === undefined ? [] : [`ack ${message.reply_to}`]
  const ids = [taskIdOf(message), reviewIdOf(message)].filter((id) => id !== undefined)
  return ids.map((id) => `${message.message_type} ${id}`)
}

/** Numbers from 1 in the order of events; ids become UUIDs, and replies follow them. */
function numbered(messages: readonly AgentMessage[]): AgentMessage[] {
  const ids = new Map<string, string>()
  const unique = messages.map((message, i) => {
    const id = isUuid(message.message_id) && !ids.has(message.message_id) ? message.message_id : undefined
    const message_id =
      id ?? derivedUuid(`message ${message.message_id} ${ids.has(message.message_id) ? i : ''}`)
    if (!ids.has(message.message_id)) ids.set(message.message_id, message_id)
    return { message, message_id }
  })
  return unique.map(({ message, message_id }, i) => {
    const { reply_to, ...rest } = message
    const answered = reply_to === undefined ? undefined : ids.get(reply_to)
    return {
      ...rest,
      message_id,
      sequence_number: i + 1,
      payload: acknowledging(message, ids),
      ...(answered === undefined ? {} : { reply_to: answered }),
      ...(reply_to !== undefined && answered === undefined ? { original_reply_to: reply_to } : {}),
      ...(message_id === message.message_id ? {} : { original_message_id: message.message_id }),
    }
  })
}

function acknowledging({ message_type, payload }: AgentMessage, ids: ReadonlyMap<string, string>): unknown {
  if (message_type !== 'acknowledgment' || typeof payload !== 'object' || payload === null) return payload
  const { acknowledged_message_id: named } = payload as { acknowledged_message_id?: unknown }
  const id = typeof named === 'string' ? ids.get(named) : undefined
  return id === undefined ? payload : { ...payload, acknowledged_message_id: id }
}

const isUuid = (id: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(id)

/** A message with its place among the events; the rank orders what one event says. */
type Spoken = { readonly message: AgentMessage; readonly position: number; readonly rank: number }

type Flow = {
  readonly owner: OwnerRecord
  readonly sub: SubAgentSession
  readonly said: readonly Spoken[]
}
type When = { readonly position: number; readonly timestamp: string; readonly rank: number }
type Said = Pick<AgentMessage, 'message_type' | 'payload'> & { readonly reply_to?: string }
type Speak = (when: When, said: Said) => Spoken
/** The two ways between whoever gave the work and whoever does it. */
type Ways = { readonly down: Speak; readonly up: Speak; readonly start: When }

/** What the protocol records of one agent's work, from its assignment to its end. */
function flowMessages(flow: Flow, agents: FileAgents): Spoken[] {
  const { owner, sub } = flow
  const opened = owner.spawned ?? owner.started
  if (!opened) return []
  const architect = owner.parent ? agents.of(owner.parent) : agents.orchestrator
  const worker = agents.of(owner)
  const correlation_id = derivedUuid(`flow ${sub.sub_session_id}`)
  const way =
    (from: AgentIdentifier, to: AgentIdentifier): Speak =>
    ({ position, timestamp, rank }, { message_type, payload, reply_to }) => ({
      position,
      rank,
      message: compact({
        message_id: derivedUuid(`${sub.sub_session_id} ${message_type} ${position} ${rank}`),
        timestamp,
        sequence_number: 0,
        from_agent: { ...from },
        to_agent: { ...to },
        message_type,
        payload,
        correlation_id,
        reply_to,
      }),
    })
  const ways = { down: way(architect, worker), up: way(worker, architect), start: when(opened, 0) }
  return isReview(sub) ? reviewFlow(flow, ways) : workFlow(flow, ways)
}

const when = ({ event, position }: Placed<{ readonly timestamp: string }>, rank: number): When => ({
  position,
  timestamp: event.timestamp,
  rank,
})

function workFlow({ owner, sub, said }: Flow, { down, up, start }: Ways): Spoken[] {
  const { task_id, description, priority } = sub.task
  const given = said.find(
    ({ message }) => message.message_type === 'task_assignment' && taskIdOf(message) === task_id,
  )
  const payload = { task: { task_id, task_description: description }, priority }
  const assignment = given ?? down(start, { message_type: 'task_assignment', payload })
  const assigned = assignment.message.message_id
  const act = owner.firstAct ?? owner.ended
  const accepted = act ? when(act, 1) : { ...start, rank: 1 }
  const acknowledgment = up(
    { ...accepted, position: Math.max(accepted.position, assignment.position) },
    {
      message_type: 'acknowledgment',
      payload: { acknowledged_message_id: assigned, accepted: true },
      reply_to: assigned,
    },
  )
  const progress = owner.checkpoints.map((checkpoint) => {
    const { progressPercent: progress_percent, message } = checkpoint.event.payload
    const step = compact({ task_id, progress_percent, current_step: textOf(message) })
    return up(when(checkpoint, 2), { message_type: 'task_progress', payload: step })
  })
  return [...(given ? [] : [assignment]), acknowledgment, ...progress, ...endOf(owner, sub, up)]
}

/** The end of a task is always told; one that was called off is told as an abort as well. */
function endOf(owner: OwnerRecord, sub: SubAgentSession, up: Speak): Spoken[] {
  if (!owner.ended) return []
  const isOutput = sub.output !== undefined && 'changes' in sub.output
  const bare = { task_id: sub.task.task_id, status: sub.status === 'success' ? 'completed' : 'failed' }
  const payload = isOutput ? sub.output : bare
  return [...abortOf(owner, sub, up), up(when(owner.ended, 4), { message_type: 'task_completion', payload })]
}

function abortOf({ ended }: OwnerRecord, sub: SubAgentSession, up: Speak): Spoken[] {
  const word = ended ? endWord(ended.event) : 'completed'
  if (!ended || word === 'completed' || word === 'error') return []
  return [up(when(ended, 3), abort(sub, ended.event.payload.reason ?? word))]
}

const abort = (sub: SubAgentSession, reason: string): Said => ({
  message_type: 'abort',
  payload: { scope: 'task', target_id: sub.task.task_id, reason, cleanup_required: false },
})

function reviewFlow({ owner, sub }: Flow, { down, up, start }: Ways): Spoken[] {
  const output = sub.output && 'verdict' in sub.output ? sub.output : undefined
  const { task_id } = sub.task
  const asked = { review_id: output?.review_id ?? task_id, task_id: output?.task_id ?? task_id }
  const request = down(start, { message_type: 'review_request', payload: asked })
  if (!owner.ended) return [request]
  const end = when(owner.ended, 4)
  const aborted = abortOf(owner, sub, up)
  const reply_to = request.message.message_id
  if (output)
    return [request, ...aborted, up(end, { message_type: 'review_result', payload: output, reply_to })]
  if (aborted.length > 0) return [request, ...aborted]
  return [request, up(end, abort(sub, owner.ended.event.payload.reason ?? 'the review gave no verdict'))]
}

/** Claims a verifier judged, as review results of the claim. */
function claimMessages(
  { claims }: Collected,
  agents: FileAgents,
  subs: ReadonlyMap<OwnerRecord, SubAgentSession>,
): Spoken[] {
  const verdicts = { supported: 'approved', refuted: 'rejected', inconclusive: 'changes_requested' } as const
  const byAgent = new Map([...subs.values()].map((sub) => [sub.agent.agent_id, sub]))
  return claims.flatMap(({ event, position }) => {
    const verifier = byAgent.get(event.payload.verifierAgentId)
    if (!verifier) return []
    const { findingId, verdict } = event.payload
    const worker = verifier.agent
    const base = {
      timestamp: event.timestamp,
      correlation_id: derivedUuid(`claim ${findingId}`),
      sequence_number: 0,
    }
    const asked: AgentMessage = {
      ...base,
      message_id: derivedUuid(`claim asked ${findingId}`),
      from_agent: { ...agents.orchestrator },
      to_agent: { ...worker },
      message_type: 'review_request',
      payload: { review_id: findingId, task_id: verifier.task.task_id },
    }
    const told: AgentMessage = {
      ...base,
      message_id: derivedUuid(`claim judged ${findingId}`),
      from_agent: { ...worker },
      to_agent: { ...agents.orchestrator },
      message_type: 'review_result',
      payload: { review_id: findingId, verdict: verdicts[verdict] },
      reply_to: asked.message_id,
    }
    return [asked, told].map((message, rank) => ({ message, position, rank }))
  })
}
