import type { AgentSession } from '../contract/session-file/agent-session.ts'
import type { Report } from '../contract/session-file/issue.ts'
import { delegationTools, type MultiAgentSession } from '../contract/session-file/multi-agent-session.ts'
import {
  callIds,
  cyclic,
  type Delegation,
  delegations,
  duplicates,
  idLists,
  lostEnds,
  mayHaveStarted,
  parentOf,
  type SessionIndex,
  triggerOf,
  withoutParent,
} from './session-walk.ts'

/** The parents of every sub-session lead to the session itself. */
export function checkParents(session: MultiAgentSession, index: SessionIndex, report: Report): void {
  const { collaboration, sub_sessions } = session
  if (collaboration.mode === 'multi_agent' && sub_sessions.length === 0)
    report('no_sub_session', ['sub_sessions'], 'mode is multi_agent, but there is no sub-session')
  const pathOf = (i: number) => ['sub_sessions', i, 'parent_session_id']
  for (const i of withoutParent(session, index))
    report(
      'parent_missing',
      pathOf(i),
      `there is no session or sub-session ${sub_sessions[i]?.parent_session_id}`,
    )
  for (const i of cyclic(session, index))
    report('parent_cycle', pathOf(i), 'following the parents never reaches the session')
}

/** The link between a delegating call and its sub-session holds both ways. */
export function checkDelegation(session: MultiAgentSession, index: SessionIndex, report: Report): void {
  session.sub_sessions.forEach((sub, i) => {
    const path = ['sub_sessions', i, 'triggered_by_call_id']
    const call = triggerOf(index, sub)
    const parent = parentOf(index, sub)?.id ?? sub.parent_session_id
    if (!call) report('trigger_missing', path, `${parent} has no call ${sub.triggered_by_call_id}`)
    else if (!delegationTools.has(call.tool_name))
      report('trigger_not_delegation', path, `call ${call.call_id} of ${parent} is a ${call.tool_name} call`)
  })
  const isMulti = session.collaboration.mode === 'multi_agent'
  for (const delegation of delegations(index)) {
    const { call, path } = delegation
    if (call.tool_category !== 'interaction')
      report('category_differs', [...path, 'tool_category'], `${call.tool_name} is interaction`)
    checkLink(delegation, { index, isMulti }, report)
  }
}

type Context = { readonly index: SessionIndex; readonly isMulti: boolean }

function checkLink({ call, path, subs }: Delegation, { index, isMulti }: Context, report: Report): void {
  const named = call.subagent_info?.sub_session_id
  const isThere = named !== undefined && index.byId.get(named)?.sub !== undefined
  const linkPath = [...path, 'subagent_info', 'sub_session_id']
  if (subs.length > 1) report('trigger_shared', path, `it started ${subs.join(', ')}`)
  if (named !== undefined && !isThere)
    report(isMulti ? 'sub_session_missing' : 'link_dangling', linkPath, `there is no sub-session ${named}`)
  else if (named !== undefined && subs.length > 0 && !subs.includes(named))
    report('link_mismatch', linkPath, `the call started ${subs.join(', ')}, not ${named}`)
  else if (named === undefined && subs.length > 0)
    report('link_one_way', path, `the call does not name ${subs.join(', ')}, which it started`)
  if (isMulti && mayHaveStarted(call) && subs.length === 0 && (named === undefined || isThere))
    report('task_unlinked', path, `no sub-session names call ${call.call_id} as its trigger`)
}

/** Ids are unique inside their owner. */
export function checkIds(
  session: AgentSession | MultiAgentSession,
  index: SessionIndex,
  report: Report,
): void {
  for (const list of idLists(session, index))
    for (const [i, first] of duplicates(list))
      report(
        'duplicate_id',
        [...list.path, i, list.key],
        first === undefined ? 'the session itself has this id' : `${list.what} ${first} has the same id`,
      )
}

/** Both ends of an annotation are calls of the file, of the session or of any sub-session. */
export function checkAnnotations(session: AgentSession, index: SessionIndex, report: Report): void {
  const annotations = session.phase_annotations ?? []
  if (annotations.length === 0) return
  const known = callIds(index)
  annotations.forEach((annotation, i) => {
    const { tool_call_range: range } = annotation
    const path = ['phase_annotations', i, 'tool_call_range']
    for (const end of lostEnds(annotation, known))
      report('annotation_range', [...path, end], `there is no call ${range[end]}`)
    const [start, end] = [range.start_call_id, range.end_call_id].map((id) => index.main.callAt.get(id))
    if (start !== undefined && end !== undefined && start > end)
      report('annotation_reversed', path, `${range.start_call_id} stands after ${range.end_call_id}`)
  })
}
