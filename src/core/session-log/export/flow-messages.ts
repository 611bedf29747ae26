import type { AgentIdentifier } from '../../../contract/formats/std-008/agent.ts'
import type { AgentMessage } from '../../../contract/formats/std-008/message.ts'
import type { SubAgentSession } from '../../../contract/formats/std-008/sub-session.ts'
import { taskIdOf } from '../checks/message-flow.ts'
import { derivedUuid } from '../derived-ids.ts'
import { isReview } from '../figures.ts'
import { compact } from '../json/value.ts'
import { endWord } from '../rebuild/ending.ts'
import { textOf } from '../rebuild/recorded.ts'
import type { FileAgents } from './agents.ts'
import type { Collected } from './collect.ts'
import type { OwnerRecord } from './owner-record.ts'

/** A message with its place among the events; the rank orders what one event says. */
export type Spoken = { readonly message: AgentMessage; readonly position: number; readonly rank: number }

type Flow = {
  readonly owner: OwnerRecord
  readonly sub: SubAgentSession
  readonly agents: FileAgents
  readonly said: readonly Spoken[]
}

/** What the protocol records of one agent's work, from its assignment to its end. */
export function flowMessages({ owner, sub, agents, said }: Flow): Spoken[] {
  const opened = owner.spawned ?? owner.started
  if (!opened) return []
  const from = owner.parent ? agents.of(owner.parent) : agents.orchestrator
  const speak = speaker(sub, { architect: from, worker: agents.of(owner) })
  const start = { position: opened.position, timestamp: opened.event.timestamp }
  return isReview(sub)
    ? reviewFlow(owner, sub, { speak, start })
    : workFlow({ owner, sub, said, speak, start })
}

/** Claims a verifier judged, as review results of the claim. */
export function claimMessages(
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

type When = { readonly position: number; readonly timestamp: string; readonly rank?: number }
type Said = Pick<AgentMessage, 'message_type' | 'payload'> & { readonly reply_to?: string | undefined }
type Speak = (way: 'down' | 'up', when: When, said: Said) => Spoken

function speaker(
  sub: SubAgentSession,
  { architect, worker }: { architect: AgentIdentifier; worker: AgentIdentifier },
): Speak {
  const correlation_id = derivedUuid(`flow ${sub.sub_session_id}`)
  return (way, { position, timestamp, rank = 0 }, { message_type, payload, reply_to }) => ({
    position,
    rank,
    message: compact({
      message_id: derivedUuid(`${sub.sub_session_id} ${message_type} ${position} ${rank}`),
      timestamp,
      sequence_number: 0,
      from_agent: { ...(way === 'down' ? architect : worker) },
      to_agent: { ...(way === 'down' ? worker : architect) },
      message_type,
      payload,
      correlation_id,
      reply_to,
    }),
  })
}

type Told = { readonly speak: Speak; readonly start: When }

function workFlow({ owner, sub, said, speak, start }: Omit<Flow, 'agents'> & Told): Spoken[] {
  const task = { task_id: sub.task.task_id, task_description: sub.task.description }
  const given = said.find(
    ({ message }) => message.message_type === 'task_assignment' && taskIdOf(message) === task.task_id,
  )
  const assignment =
    given ??
    speak('down', start, { message_type: 'task_assignment', payload: { task, priority: sub.task.priority } })
  const assigned = assignment.message.message_id
  const act = owner.firstAct ?? owner.ended
  const accepted = {
    position: Math.max(act?.position ?? start.position, assignment.position),
    timestamp: act?.event.timestamp ?? start.timestamp,
    rank: 1,
  }
  const acknowledgment = speak('up', accepted, {
    message_type: 'acknowledgment',
    payload: { acknowledged_message_id: assigned, accepted: true },
    reply_to: assigned,
  })
  const progress = owner.checkpoints.map(({ event, position }) =>
    speak(
      'up',
      { position, timestamp: event.timestamp, rank: 2 },
      {
        message_type: 'task_progress',
        payload: compact({
          task_id: task.task_id,
          progress_percent: event.payload.progressPercent,
          current_step: textOf(event.payload.message),
        }),
      },
    ),
  )
  return [...(given ? [] : [assignment]), acknowledgment, ...progress, ...endOf(owner, sub, speak)]
}

/** The end of a task is always told; one that was called off is told as an abort as well. */
function endOf(owner: OwnerRecord, sub: SubAgentSession, speak: Speak): Spoken[] {
  if (!owner.ended) return []
  const { event, position } = owner.ended
  const when = { position, timestamp: event.timestamp }
  const isOutput = sub.output !== undefined && 'changes' in sub.output
  const completion = speak(
    'up',
    { ...when, rank: 4 },
    {
      message_type: 'task_completion',
      payload: isOutput
        ? sub.output
        : { task_id: sub.task.task_id, status: sub.status === 'success' ? 'completed' : 'failed' },
    },
  )
  return [...abortOf(owner, sub, speak), completion]
}

function abortOf(owner: OwnerRecord, sub: SubAgentSession, speak: Speak): Spoken[] {
  const ended = owner.ended
  const word = ended ? endWord(ended.event) : 'completed'
  if (!ended || word === 'completed' || word === 'error') return []
  const { event, position } = ended
  return [
    speak(
      'up',
      { position, timestamp: event.timestamp, rank: 3 },
      {
        message_type: 'abort',
        payload: {
          scope: 'task',
          target_id: sub.task.task_id,
          reason: event.payload.reason ?? word,
          cleanup_required: false,
        },
      },
    ),
  ]
}

function reviewFlow(owner: OwnerRecord, sub: SubAgentSession, { speak, start }: Told): Spoken[] {
  const output = sub.output && 'verdict' in sub.output ? sub.output : undefined
  const review_id = output?.review_id ?? sub.task.task_id
  const request = speak('down', start, {
    message_type: 'review_request',
    payload: { review_id, task_id: output?.task_id ?? sub.task.task_id },
  })
  if (!owner.ended) return [request]
  const when = { position: owner.ended.position, timestamp: owner.ended.event.timestamp, rank: 4 }
  const result = output
    ? [
        speak('up', when, {
          message_type: 'review_result',
          payload: output,
          reply_to: request.message.message_id,
        }),
      ]
    : []
  const aborted = abortOf(owner, sub, speak)
  const lost =
    result.length === 0 && aborted.length === 0
      ? [
          speak('up', when, {
            message_type: 'abort',
            payload: {
              scope: 'task',
              target_id: sub.task.task_id,
              reason: owner.ended.event.payload.reason ?? 'the review gave no verdict',
              cleanup_required: false,
            },
          }),
        ]
      : []
  return [request, ...aborted, ...lost, ...result]
}
