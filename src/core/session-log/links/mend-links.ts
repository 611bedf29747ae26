import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import { hasCollaboration } from '../multi-agent.ts'
import type { RepairLog } from '../repair/log.ts'
import { mendDelegations } from './delegations.ts'
import { mendMessages } from './messages.ts'
import { mendParents } from './parents.ts'
import { rebuildRoles } from './roles.ts'
import { mendTriggers } from './triggers.ts'
import { uniqueCallIds, uniqueIds } from './unique-ids.ts'

/** Mends what records other than annotations say of each other, in place; each step rests on the ones before. */
export function mendLinks(session: AgentSession | MultiAgentSession, log: RepairLog): void {
  if (hasCollaboration(session)) {
    rebuildRoles(session, log)
    uniqueIds(session, log)
    mendParents(session, log)
    mendTriggers(session, log)
    mendDelegations(session, log)
    mendMessages(session, log)
  } else uniqueCallIds(session, log)
}
