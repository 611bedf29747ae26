import type { Draft } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import { checkAdoption, levelsBelow } from '../../core/session/session-tree.ts'
import type { SessionState } from '../../core/session/state.ts'
import { draftOf } from './drafts.ts'
import type { Parts } from './parts.ts'
import type { SessionWatch } from './watch.ts'

/** Hangs a session, with all below it, under another parent or at the root; one that was abandoned is open again. */
export async function adopt(
  { engine, config }: Pick<Parts, 'engine' | 'config'>,
  watch: SessionWatch,
  { parent, by }: { parent: SessionId | undefined; by: string },
): Promise<void> {
  const depth = parent === undefined ? 0 : (engine.session(parent)?.depth ?? 0) + 1
  const isAbandoned = watch.state()?.lifecycle === 'abandoned'
  const drafts = [
    ...(isAbandoned ? [draftOf(watch.root, 'session.reopened', { by, reason: 'adopted' })] : []),
    draftOf(watch.root, 'session.updated', { parentSessionId: parent ?? null, depth, by }),
    ...depthsBelow(Array.from(engine.sessions()), { top: watch.id, depth, by }),
  ]
  await watch.say(drafts, ({ sessions }) =>
    checkAdoption(sessions, { child: watch.id, parent }, config().limits),
  )
}

function depthsBelow(
  open: readonly Readonly<SessionState>[],
  { top, depth, by }: { top: SessionId; depth: number; by: string },
): Draft[] {
  const levels = levelsBelow(open, top)
  return open.flatMap(({ sessionId, traceId, open: spans }): Draft[] => {
    const level = levels.get(sessionId)
    const span = [...spans.values()].find(({ kind }) => kind === 'session')
    if (!level || !span || !traceId) return []
    const { runId, spanId } = span
    const root = { sessionId, traceId, runId, spanId, actor: by }
    return [draftOf(root, 'session.updated', { depth: depth + level, by })]
  })
}
