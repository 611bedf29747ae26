import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { Report } from '../report.ts'
import type { SessionIndex } from '../session-index.ts'

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
