import type { ToolCall } from '../../../contract/formats/std-001/tool-call.ts'
import { delegationTools } from '../../../contract/formats/std-008/delegation.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { Report } from '../report.ts'
import { type Owner, parentOf, type SessionIndex, triggerOf } from '../session-index.ts'

/** The link between a delegating call and its sub-session holds both ways. */
export function checkDelegation(session: MultiAgentSession, index: SessionIndex, report: Report): void {
  const started = startedByCall(index)
  session.sub_sessions.forEach((sub, i) => {
    const path = ['sub_sessions', i, 'triggered_by_call_id']
    const call = triggerOf(index, sub)
    const parent = parentOf(index, sub)?.id ?? sub.parent_session_id
    if (!call) report('trigger_missing', path, `${parent} has no call ${sub.triggered_by_call_id}`)
    else if (!delegationTools.has(call.tool_name))
      report('trigger_not_delegation', path, `call ${call.call_id} of ${parent} is a ${call.tool_name} call`)
  })
  for (const owner of index.owners)
    owner.calls.forEach((call, n) => {
      if (!delegationTools.has(call.tool_name)) return
      const path = [...owner.path, 'tool_calls', n]
      if (call.tool_category !== 'interaction')
        report('category_differs', [...path, 'tool_category'], `${call.tool_name} is interaction`)
      const subs = started.get(owner)?.get(call.call_id) ?? []
      const isFirst = owner.callAt.get(call.call_id) === n
      checkLink({ call, path, subs: isFirst ? subs : [], session, index, report })
    })
}

type Link = {
  readonly call: ToolCall
  readonly path: readonly (string | number)[]
  readonly subs: readonly string[]
  readonly session: MultiAgentSession
  readonly index: SessionIndex
  readonly report: Report
}

function checkLink({ call, path, subs, session, index, report }: Link): void {
  const named = call.subagent_info?.sub_session_id
  const isMulti = session.collaboration.mode === 'multi_agent'
  const linkPath = [...path, 'subagent_info', 'sub_session_id']
  if (subs.length > 1) report('trigger_shared', path, `it started ${subs.join(', ')}`)
  if (named !== undefined && !index.byId.get(named)?.sub)
    report(isMulti ? 'sub_session_missing' : 'link_dangling', linkPath, `there is no sub-session ${named}`)
  else if (named !== undefined && subs.length > 0 && !subs.includes(named))
    report('link_mismatch', linkPath, `the call started ${subs.join(', ')}, not ${named}`)
  else if (named === undefined && subs.length > 0)
    report('link_one_way', path, `the call does not name ${subs.join(', ')}, which it started`)
  if (isMulti && subs.length === 0 && (named === undefined || index.byId.get(named)?.sub))
    report('task_unlinked', path, `no sub-session names call ${call.call_id} as its trigger`)
}

/** Which sub-sessions each call of each owner started. */
export function startedByCall(index: SessionIndex): Map<Owner, Map<string, string[]>> {
  const started = new Map<Owner, Map<string, string[]>>()
  for (const { sub } of index.subs) {
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
