import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import { annotationFrom } from '../rebuild/annotation.ts'
import { headFrom } from '../rebuild/head.ts'
import { messageFrom } from '../rebuild/message.ts'
import { inFileOrder, rawOf, restored } from '../rebuild/recorded.ts'
import { subSessionFrom } from '../rebuild/sub-session.ts'
import { type CallEvents, toolCallFrom } from '../rebuild/tool-call.ts'
import type { Collected } from './collect.ts'
import type { OwnerRecord } from './owner-record.ts'

/** The file an imported session came from, field for field; undefined when the session was not imported. */
export function importedDocument(found: Collected): AgentSession | MultiAgentSession | undefined {
  const started = found.root.started?.event
  const raw = started ? rawOf(started.payload) : {}
  if (!started || started.payload.origin !== 'imported' || raw.format === undefined) return undefined
  const head = restored(headFrom(started, found.root.ended?.event), raw)
  const annotations = inFileOrder(found.annotations, ({ payload }) => rawOf(payload).index)
  const document = {
    ...head,
    tool_calls: callsOf(found.root, found.lastAt),
    ...(annotations.length === 0
      ? {}
      : {
          phase_annotations: annotations.map((event) =>
            restored(annotationFrom(event), rawOf(event.payload)),
          ),
        }),
    summary: found.summary?.payload.declared,
  }
  const file = raw.format === 'std-008' ? { ...document, ...together(found) } : document
  return file as unknown as AgentSession | MultiAgentSession
}

function together(found: Collected): Pick<MultiAgentSession, 'sub_sessions' | 'messages'> {
  const subs = found.subs.filter((owner) => owner.spawned)
  const messages = inFileOrder(found.messages, ({ event }) => rawOf(event.payload).index)
  return {
    sub_sessions: inFileOrder(subs, ({ spawned }) => spawned && rawOf(spawned.event.payload).index).flatMap(
      (owner) => {
        if (!owner.spawned) return []
        const { event } = owner.spawned
        const sub = restored(subSessionFrom(event, owner.ended?.event), rawOf(event.payload))
        return [{ ...sub, tool_calls: callsOf(owner, found.lastAt) }]
      },
    ),
    messages: messages.map(({ event }) => restored(messageFrom(event), rawOf(event.payload))),
  }
}

function callsOf(owner: OwnerRecord, now: string): AgentSession['tool_calls'] {
  const raw = (call: CallEvents) => (call.started ? rawOf(call.started.payload) : {})
  return inFileOrder(owner.calls, (call) => raw(call).index).map((call) =>
    restored(toolCallFrom(call, now), raw(call)),
  )
}
