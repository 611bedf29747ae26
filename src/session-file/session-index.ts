import type { AgentSession, ToolCall } from '../contract/session-file/agent-session.ts'
import type { MultiAgentSession, SubAgentSession } from '../contract/session-file/multi-agent-session.ts'

/** Whoever has tool calls of its own: the session, or a sub-session. */
export type Owner = {
  readonly id: string
  readonly path: readonly (string | number)[]
  readonly calls: readonly ToolCall[]
  /** Where a call id first stands in `calls`. */
  readonly callAt: ReadonlyMap<string, number>
  readonly sub?: SubAgentSession
}

/** A session by its ids, so that no check has to search. */
export type SessionIndex = {
  readonly main: Owner
  readonly subs: readonly Owner[]
  readonly owners: readonly Owner[]
  readonly byId: ReadonlyMap<string, Owner>
}

export function indexSession(session: AgentSession | MultiAgentSession): SessionIndex {
  const main = owner({ id: session.session_id, path: [], calls: session.tool_calls })
  const list = 'sub_sessions' in session ? session.sub_sessions : []
  const subs = list.map((sub, i) =>
    owner({ id: sub.sub_session_id, path: ['sub_sessions', i], calls: sub.tool_calls, sub }),
  )
  const byId = new Map<string, Owner>()
  for (const each of [main, ...subs]) if (!byId.has(each.id)) byId.set(each.id, each)
  return { main, subs, owners: [main, ...subs], byId }
}

/** The owner whose call started a sub-session, when the file has it. */
export const parentOf = (index: SessionIndex, sub: SubAgentSession): Owner | undefined =>
  index.byId.get(sub.parent_session_id)

/** The call of the parent that started a sub-session. */
export function triggerOf(index: SessionIndex, sub: SubAgentSession): ToolCall | undefined {
  const parent = parentOf(index, sub)
  const position = parent?.callAt.get(sub.triggered_by_call_id)
  return position === undefined ? undefined : parent?.calls[position]
}

/** The ids of all calls of a session, of whichever owner. */
export const callIds = (session: AgentSession | MultiAgentSession): Set<string> =>
  new Set(indexSession(session).owners.flatMap((each) => [...each.callAt.keys()]))

function owner(fields: Omit<Owner, 'callAt'>): Owner {
  const callAt = new Map<string, number>()
  fields.calls.forEach((call, position) => {
    if (!callAt.has(call.call_id)) callAt.set(call.call_id, position)
  })
  return { ...fields, callAt }
}
