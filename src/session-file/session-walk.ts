import type { AgentSession, PhaseAnnotation, ToolCall } from '../contract/session-file/agent-session.ts'
import {
  type AgentIdentifier,
  delegationTools,
  type MultiAgentSession,
  type SubAgentSession,
} from '../contract/session-file/multi-agent-session.ts'
import { isRecord, type JsonRecord } from '../core/json/json-value.ts'
import { hasCollaboration } from './multi-agent.ts'

// The one walk over a session's ids, parents, delegations and messages. The validator reports what it finds, and
// the reader repairs it, so that neither knows a link that the other does not.

type Session = AgentSession | MultiAgentSession
type Path = readonly (string | number)[]

/** Whoever has tool calls of its own: the session, or a sub-session. */
export type Owner = {
  readonly id: string
  readonly path: Path
  readonly calls: readonly ToolCall[]
  /** The first position of each call id in `calls`. */
  readonly callAt: ReadonlyMap<string, number>
  readonly sub?: SubAgentSession
}

/** A session by its ids, so that nobody has to search. */
export type SessionIndex = {
  readonly main: Owner
  readonly owners: readonly Owner[]
  readonly byId: ReadonlyMap<string, Owner>
}

export function indexSession(session: Session): SessionIndex {
  const main = owner({ id: session.session_id, path: [], calls: session.tool_calls })
  const list = 'sub_sessions' in session ? session.sub_sessions : []
  const subs = list.map((sub, i) =>
    owner({ id: sub.sub_session_id, path: ['sub_sessions', i], calls: sub.tool_calls, sub }),
  )
  const owners = [main, ...subs]
  const byId = new Map(owners.toReversed().map((each) => [each.id, each]))
  return { main, owners, byId }
}

function owner(fields: Omit<Owner, 'callAt'>): Owner {
  const callAt = new Map<string, number>()
  fields.calls.forEach((call, position) => {
    if (!callAt.has(call.call_id)) callAt.set(call.call_id, position)
  })
  return { ...fields, callAt }
}

/** The ids of all calls of a session, of whichever owner. */
export const callIds = ({ owners }: SessionIndex): Set<string> =>
  new Set(owners.flatMap((each) => [...each.callAt.keys()]))

/** The owner whose call started a sub-session, when the file has it. */
export const parentOf = (index: SessionIndex, sub: SubAgentSession): Owner | undefined =>
  index.byId.get(sub.parent_session_id)

/** The call of the parent that started a sub-session. */
export function triggerOf(index: SessionIndex, sub: SubAgentSession): ToolCall | undefined {
  const parent = parentOf(index, sub)
  const position = parent?.callAt.get(sub.triggered_by_call_id)
  return position === undefined ? undefined : parent?.calls[position]
}

/** A list whose records have different ids; parent and child may both have a tool-001. */
export type IdList = {
  readonly what: 'call' | 'sub-session' | 'message' | 'participant' | 'annotation' | 'finding'
  readonly items: readonly object[]
  readonly key: string
  readonly path: Path
  /** An id that belongs to somebody else. */
  readonly taken?: string
}

/** The lists of a session whose ids may repeat; an index that has all calls of an owner shows that they do not. */
export function idLists(session: Session, { owners } = indexSession(session)): IdList[] {
  const calls = owners
    .filter((each) => each.callAt.size < each.calls.length)
    .map(
      ({ calls: items, path }): IdList => ({
        what: 'call',
        items,
        key: 'call_id',
        path: [...path, 'tool_calls'],
      }),
    )
  const annotations: IdList = {
    what: 'annotation',
    items: session.phase_annotations ?? [],
    key: 'annotation_id',
    path: ['phase_annotations'],
  }
  if (!hasCollaboration(session)) return [...calls, annotations]
  const { sub_sessions, messages, collaboration } = session
  return [
    ...calls,
    {
      what: 'sub-session',
      items: sub_sessions,
      key: 'sub_session_id',
      path: ['sub_sessions'],
      taken: session.session_id,
    },
    { what: 'message', items: messages, key: 'message_id', path: ['messages'] },
    {
      what: 'participant',
      items: collaboration.participants,
      key: 'agent_id',
      path: ['collaboration', 'participants'],
    },
    annotations,
    ...sub_sessions.flatMap(({ output }, i): IdList[] =>
      output && 'findings' in output
        ? [
            {
              what: 'finding',
              items: output.findings,
              key: 'finding_id',
              path: ['sub_sessions', i, 'output', 'findings'],
            },
          ]
        : [],
    ),
  ]
}

/** The records of a list whose id is taken, by position, with the first that has it; undefined is somebody else. */
export function duplicates({ items, key, taken }: IdList): Map<number, number | undefined> {
  const seen = new Map<unknown, number | undefined>(taken === undefined ? [] : [[taken, undefined]])
  const repeated = new Map<number, number | undefined>()
  items.forEach((item, position) => {
    const id = (item as Record<string, unknown>)[key]
    if (seen.has(id)) repeated.set(position, seen.get(id))
    else seen.set(id, position)
  })
  return repeated
}

/** Positions of the sub-sessions whose parent is not in the file. */
export const withoutParent = ({ sub_sessions }: MultiAgentSession, index: SessionIndex): number[] =>
  sub_sessions.flatMap((sub, i) => (parentOf(index, sub) ? [] : [i]))

/** Positions of the sub-sessions that are their own ancestors, or are below one that is. */
export function cyclic(session: MultiAgentSession, index: SessionIndex): number[] {
  const isRooted = new Map<string, boolean>([[session.session_id, true]])
  for (const { sub_session_id } of session.sub_sessions) {
    const walked = new Set<string>()
    let id: string | undefined = sub_session_id
    while (id !== undefined && !isRooted.has(id) && !walked.has(id)) {
      walked.add(id)
      id = index.byId.get(id)?.sub?.parent_session_id
    }
    const fate = id === undefined || !walked.has(id) ? (isRooted.get(id ?? '') ?? true) : false
    for (const each of walked) isRooted.set(each, fate)
  }
  return session.sub_sessions.flatMap((sub, i) => (isRooted.get(sub.sub_session_id) === false ? [i] : []))
}

/** A delegating call and the sub-sessions that name it as their trigger. */
export type Delegation = {
  readonly owner: Owner
  readonly call: ToolCall
  readonly path: Path
  readonly subs: string[]
}

/** Every delegating call of a session; of calls with one id the first counts as the trigger. */
export function delegations(index: SessionIndex): Delegation[] {
  const started = startedByCall(index)
  return index.owners.flatMap((each) =>
    each.calls.flatMap((call, n) => {
      if (!delegationTools.has(call.tool_name)) return []
      const isFirst = each.callAt.get(call.call_id) === n
      const subs = isFirst ? (started.get(each)?.get(call.call_id) ?? []) : []
      return [{ owner: each, call, path: [...each.path, 'tool_calls', n], subs }]
    }),
  )
}

/** Whether a delegating call may have started somebody: one that was denied, failed or still waits names nobody. */
export const mayHaveStarted = ({ output, subagent_info }: ToolCall): boolean =>
  output.status === 'success' || subagent_info !== undefined

function startedByCall(index: SessionIndex): Map<Owner, Map<string, string[]>> {
  const started = new Map<Owner, Map<string, string[]>>()
  for (const { sub } of index.owners) {
    const parent = sub && parentOf(index, sub)
    if (!sub || !parent) continue
    const calls = started.get(parent) ?? new Map<string, string[]>()
    started.set(parent, calls)
    const subs = calls.get(sub.triggered_by_call_id)
    if (subs) subs.push(sub.sub_session_id)
    else calls.set(sub.triggered_by_call_id, [sub.sub_session_id])
  }
  return started
}

/** An agent that is named somewhere, and is neither the orchestrator nor a participant. */
export type Unlisted = { readonly agent: AgentIdentifier; readonly path: Path }

/** Also of a file with faults: whoever can be read is looked for among those that can be read. */
export function unlistedAgents(session: JsonRecord): Unlisted[] {
  const { collaboration, sub_sessions, messages } = session
  if (!isRecord(collaboration)) return []
  const { orchestrator, participants } = collaboration
  const known = new Set([orchestrator, ...listOf(participants)].map(agentId))
  const unlisted = (agent: unknown, path: Path): Unlisted[] => {
    const id = agentId(agent)
    return id === undefined || known.has(id) ? [] : [{ agent: agent as AgentIdentifier, path }]
  }
  return [
    ...listOf(sub_sessions).flatMap((sub, i) => unlisted(sub['agent'], ['sub_sessions', i, 'agent'])),
    ...listOf(messages).flatMap((message, i) =>
      ['from_agent', 'to_agent'].flatMap((end) => unlisted(message[end], ['messages', i, end])),
    ),
  ]
}

const listOf = (value: unknown): JsonRecord[] =>
  Array.isArray(value) ? value.map((item: unknown) => (isRecord(item) ? item : {})) : []

function agentId(agent: unknown): string | undefined {
  const id = isRecord(agent) ? agent['agent_id'] : undefined
  return typeof id === 'string' ? id : undefined
}

/** Positions of the messages that answer one that is not in the file. */
export function lostReplies({ messages }: MultiAgentSession): number[] {
  const ids = new Set(messages.map((message) => message.message_id))
  return messages.flatMap(({ reply_to }, i) => (reply_to === undefined || ids.has(reply_to) ? [] : [i]))
}

/** The ends of an annotation that are no calls of the file. */
export const lostEnds = ({ tool_call_range: range }: PhaseAnnotation, known: ReadonlySet<string>) =>
  (['start_call_id', 'end_call_id'] as const).filter((end) => !known.has(range[end]))
