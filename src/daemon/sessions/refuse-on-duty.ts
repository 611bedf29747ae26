import { AppError } from '../../contract/errors.ts'
import type { Principal } from '../../contract/principal.ts'
import type { Engine } from '../../engine/engine.ts'

/**
 * Refuses a session that a workflow runs for one of its tasks to start others or to move in the tree: whoever was
 * handed something hands nothing on. One that was spawned is bound by the limits of its tree alone.
 */
export async function refuseOnDuty(engine: Engine, principal: Principal): Promise<void> {
  if (principal.kind !== 'session') return
  const above = engine.session(principal.sessionId)?.parentSessionId
  // Also when the workflow ended long ago: one that outlived it is not free by that.
  const { managed } = (above && (await engine.known(above))) || {}
  if (managed?.origin !== 'workflow') return
  throw new AppError(
    'denied',
    `this session works for ${managed.name} and starts no sessions or workflows of its own; name what is needed in the blockers of its answer, or ask the architect`,
  )
}
