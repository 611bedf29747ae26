import { AppError } from '../contract/errors.ts'
import type { AgentEvent } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import type { AgentSession } from '../contract/session-file/agent-session.ts'
import type { MultiAgentSession } from '../contract/session-file/multi-agent-session.ts'
import { type CallEvents, toolCallFrom } from './call-events.ts'
import { type Collected, collect, type Resolve } from './collect.ts'
import { inFileOrder, rawOf, restored } from './event-records.ts'
import { sessionFileName } from './file-name.ts'
import { hasCollaboration, isMultiAgentSession } from './multi-agent.ts'
import type { OwnerRecord } from './owners.ts'
import { readSession } from './read-session.ts'
import { annotationFrom, headFrom, messageFrom, subSessionFrom } from './record-events.ts'
import { recordedDocument } from './recorded-document.ts'
import { validateSession } from './validate.ts'

export type ExportOptions = {
  /** The number of the file among those of its day. */
  readonly sequence: number
  /** The root of the tree; without it, the first session that no other one started. */
  readonly session?: SessionId
  /** Gives the text of a blob reference; without it, the file has its preview. */
  readonly resolve?: Resolve
}

export type SessionFile = {
  readonly document: AgentSession | MultiAgentSession
  readonly filename: string
  readonly kind: 'std-001' | 'std-008'
}

/** The session file of a session tree. It always passes the validator: a journal with holes is repaired like a file. */
export function sessionFromEvents(events: Iterable<AgentEvent>, options: ExportOptions): SessionFile {
  const found = collect(events, options)
  if (found.firstAt === '')
    throw new AppError('not_found', 'the journal has no events of this session; name one that it has')
  const imported = importedDocument(found)
  const built = imported ?? recordedDocument(found, options.sequence)
  const document = validateSession(built).valid ? built : readSession(built).session
  return {
    document,
    filename: filenameOf(document, { isImported: imported !== undefined, sequence: options.sequence }),
    kind: hasCollaboration(document) ? 'std-008' : 'std-001',
  }
}

/** The text of a session file; the same session gives the same bytes. */
export const sessionFileText = ({ document }: Pick<SessionFile, 'document'>): string =>
  `${JSON.stringify(document, null, 2)}\n`

type Naming = { readonly isImported: boolean; readonly sequence: number }

/** An imported session keeps its own name where that is one; else the file is named by the format. */
function filenameOf(document: AgentSession | MultiAgentSession, { isImported, sequence }: Naming): string {
  const isMulti = isMultiAgentSession(document)
  const own = `${document.session_id}.json`
  const isNamed = /^\d{4}-\d\d-\d\d-\d{3,}-[\p{L}\p{N}\p{M}-]{1,100}\.json$/u.test(own)
  if (isImported && isNamed && isMulti === isMultiAgentSession(own)) return own
  return sessionFileName({ createdAt: document.created_at, sequence, title: document.task_title, isMulti })
}

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
