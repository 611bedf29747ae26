import { AppError } from '../../contract/errors.ts'
import { type SessionId, shortId } from '../../contract/ids.ts'
import { leavesOrphans } from '../../core/session/session-tree.ts'
import type { SessionState } from '../../core/session/state.ts'
import { draftOf } from './drafts.ts'
import type { Parts } from './parts.ts'

/**
 * Marks every session whose parent died without ending it, once; its program goes on and it can be adopted. One that
 * cannot be marked is told of when all others are.
 */
export async function abandonOrphans(
  { engine }: Pick<Parts, 'engine'>,
  hasProgram: (id: SessionId) => boolean,
): Promise<void> {
  const failures: unknown[] = []
  for (const state of Array.from(engine.sessions())) {
    const { managed, parentSessionId } = state
    const parent = parentSessionId && engine.session(parentSessionId)
    // One that was brought back without being adopted is not abandoned again.
    if (managed?.origin !== 'managed' || state.isOrphan || !parent?.managed) continue
    if (leavesOrphans(parent, hasProgram(parent.sessionId)))
      await abandon(engine, state, parent).catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

async function abandon(
  engine: Parts['engine'],
  { sessionId, traceId, open }: Readonly<SessionState>,
  parent: Readonly<SessionState>,
): Promise<void> {
  const span = [...open.values()].find(({ kind }) => kind === 'session')
  if (!span || !traceId) return
  const { runId, spanId } = span
  const name = parent.managed?.friendlyName ?? parent.managed?.name ?? 'its parent'
  const reason = `its parent ${name} (${shortId(parent.sessionId)}) is gone: ${parent.lifecycle}`
  const ended = draftOf({ sessionId, traceId, runId, spanId, actor: 'muster' }, 'session.completed', {
    outcome: 'abandoned',
    reason,
  })
  try {
    await engine.perform([ended])
  } catch (error) {
    // It came to an end of its own in the meantime.
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error
  }
}
