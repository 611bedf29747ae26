import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import { cyclic } from '../checks/parents.ts'
import { at, root } from '../json/pointer.ts'
import type { RepairLog } from '../repair/log.ts'
import { indexSession } from '../session-index.ts'

/** Hangs sub-sessions whose parent is not there, or is themselves, on the session. */
export function mendParents(session: MultiAgentSession, log: RepairLog): void {
  const index = indexSession(session)
  const lost = session.sub_sessions.flatMap((sub, i) => (index.byId.has(sub.parent_session_id) ? [] : [i]))
  for (const i of [...lost, ...cyclic(session, index)]) {
    const sub = session.sub_sessions[i] as MultiAgentSession['sub_sessions'][number] & Record<string, unknown>
    sub['original_parent_session_id'] ??= sub.parent_session_id
    sub.parent_session_id = session.session_id
    const place = at(at(at(root, 'sub_sessions'), i), 'parent_session_id')
    log(place, 'linked', 'its parents do not lead to the session; the session is its parent now')
  }
}
