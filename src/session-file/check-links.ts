import type { AgentSession, ToolCall } from '../contract/session-file/agent-session.ts'
import { delegationTools, type MultiAgentSession } from '../contract/session-file/multi-agent-session.ts'
import { type Owner, parentOf, type SessionIndex, triggerOf } from './session-index.ts'
import type { Report } from './validate.ts'

/** Ids are unique inside their owner; parent and child may both have a tool-001. */
export function checkIds(session: MultiAgentSession, index: SessionIndex, report: Report): void {
  checkCallIds(index, report)
  const subIds = session.sub_sessions.map((sub) => sub.sub_session_id)
  unique([session.session_id, ...subIds], (i, first) =>
    report(
      'duplicate_id',
      ['sub_sessions', i - 1, 'sub_session_id'],
      first === 0 ? 'the session itself has this id' : `sub-session ${first - 1} has the same id`,
    ),
  )
  unique(
    session.messages.map((message) => message.message_id),
    (i, first) => report('duplicate_id', ['messages', i, 'message_id'], `message ${first} has the same id`),
  )
  unique(
    session.collaboration.participants.map((agent) => agent.agent_id),
    (i, first) =>
      report(
        'duplicate_id',
        ['collaboration', 'participants', i, 'agent_id'],
        `participant ${first} has the same id`,
      ),
  )
  checkAnnotationIds(session, report)
  checkFindingIds(session, report)
}

export function checkCallIds(index: SessionIndex, report: Report): void {
  for (const { calls, path } of index.owners)
    unique(
      calls.map((call) => call.call_id),
      (i, first) =>
        report('duplicate_id', [...path, 'tool_calls', i, 'call_id'], `call ${first} has the same id`),
    )
}

export function checkAnnotationIds(
  session: Pick<MultiAgentSession, 'phase_annotations'>,
  report: Report,
): void {
  unique(
    (session.phase_annotations ?? []).map((annotation) => annotation.annotation_id),
    (i, first) =>
      report(
        'duplicate_id',
        ['phase_annotations', i, 'annotation_id'],
        `annotation ${first} has the same id`,
      ),
  )
}

function checkFindingIds(session: MultiAgentSession, report: Report): void {
  session.sub_sessions.forEach(({ output }, i) => {
    if (!output || !('findings' in output)) return
    unique(
      output.findings.map((finding) => finding.finding_id),
      (n, first) =>
        report(
          'duplicate_id',
          ['sub_sessions', i, 'output', 'findings', n, 'finding_id'],
          `finding ${first} has the same id`,
        ),
    )
  })
}

/** Calls back for each later item with the position of the first one it repeats. */
function unique(ids: readonly string[], repeated: (position: number, first: number) => void): void {
  const seen = new Map<string, number>()
  ids.forEach((id, position) => {
    const first = seen.get(id)
    if (first === undefined) seen.set(id, position)
    else repeated(position, first)
  })
}

/** Every sub-session hangs, through its parents, on the session itself. */
export function checkParents(session: MultiAgentSession, index: SessionIndex, report: Report): void {
  const { collaboration, sub_sessions } = session
  if (collaboration.mode === 'multi_agent' && sub_sessions.length === 0)
    report('no_sub_session', ['sub_sessions'], 'mode is multi_agent, but there is no sub-session')
  sub_sessions.forEach((sub, i) => {
    if (!index.byId.has(sub.parent_session_id))
      report(
        'parent_missing',
        ['sub_sessions', i, 'parent_session_id'],
        `there is no session or sub-session ${sub.parent_session_id}`,
      )
  })
  for (const i of cyclic(session, index))
    report(
      'parent_cycle',
      ['sub_sessions', i, 'parent_session_id'],
      'following the parents never reaches the session',
    )
}

/** Positions of the sub-sessions that are their own ancestors, or hang below one that is. */
export function cyclic(session: MultiAgentSession, index: SessionIndex): number[] {
  type Fate = 'rooted' | 'cyclic'
  const fates = new Map<string, Fate>([[session.session_id, 'rooted']])
  for (const { sub } of index.subs) {
    const walked: string[] = []
    const onWalk = new Set<string>()
    let id = sub?.sub_session_id
    while (id !== undefined && !fates.has(id) && !onWalk.has(id)) {
      walked.push(id)
      onWalk.add(id)
      id = index.byId.get(id)?.sub?.parent_session_id
    }
    const fate: Fate = id !== undefined && onWalk.has(id) ? 'cyclic' : (fates.get(id ?? '') ?? 'rooted')
    for (const each of walked) fates.set(each, fate)
  }
  return session.sub_sessions.flatMap((sub, i) => (fates.get(sub.sub_session_id) === 'cyclic' ? [i] : []))
}

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

/** Both ends of an annotation are calls of the file, of the session or of any sub-session. */
export function checkAnnotations(session: AgentSession, index: SessionIndex, report: Report): void {
  const annotations = session.phase_annotations ?? []
  if (annotations.length === 0) return
  const known = new Set(index.owners.flatMap((owner) => [...owner.callAt.keys()]))
  annotations.forEach(({ tool_call_range: range }, i) => {
    const path = ['phase_annotations', i, 'tool_call_range']
    for (const end of ['start_call_id', 'end_call_id'] as const)
      if (!known.has(range[end])) report('annotation_range', [...path, end], `there is no call ${range[end]}`)
    const start = index.main.callAt.get(range.start_call_id)
    const end = index.main.callAt.get(range.end_call_id)
    if (start !== undefined && end !== undefined && start > end)
      report('annotation_reversed', path, `${range.start_call_id} stands after ${range.end_call_id}`)
  })
}
