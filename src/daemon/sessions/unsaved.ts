import { AppError } from '../../contract/errors.ts'
import type { SessionView, UnsavedView } from '../../contract/session-views.ts'
import type { Parts } from '../../engine/sessions/parts.ts'

const named = 3

/** What ending a session would cut off or leave lying about, in words for whoever is about to do it. */
export async function unsavedOf(
  parts: Parts,
  session: SessionView,
  signal: AbortSignal,
): Promise<UnsavedView> {
  const { status, waiting_for, queued_messages, pending_approvals, working_dir } = session
  // Git runs what a repository tells it to, and behind walls the agent may have told it anything.
  const isIsolated = parts.engine.session(session.id)?.managed?.isolation !== undefined
  const isOpen = status === 'running' || status === 'waiting_input'
  const unsaved = [
    ...(isOpen
      ? [
          `an open turn (${status === 'running' ? (session.activity ?? 'running') : 'it waits for an answer'})`,
        ]
      : []),
    ...(waiting_for === 'background' ? ['work in the background'] : []),
    ...(queued_messages > 0 ? [`${some(queued_messages, 'message')} not delivered yet`] : []),
    ...(pending_approvals > 0 ? [`${some(pending_approvals, 'question')} without an answer`] : []),
    ...(working_dir === null || isIsolated ? [] : await gitLines(parts, working_dir, signal)),
  ]
  return { session, unsaved }
}

async function gitLines(parts: Parts, folder: string, signal: AbortSignal): Promise<string[]> {
  const found = await parts.workspace.unsaved(folder, signal).catch((error: unknown) => {
    // Without git, or in a folder that is gone, there is nothing to say of it.
    if (error instanceof AppError) return undefined
    throw error
  })
  if (!found) return []
  const { changed, unpushed, branch, root } = found
  const first = changed.slice(0, named).join(', ')
  const more = changed.length > named ? ', …' : ''
  return [
    ...(changed.length > 0
      ? [`${some(changed.length, 'uncommitted file')} in ${root} (${first}${more})`]
      : []),
    ...(unpushed > 0 ? [`${some(unpushed, 'commit')} of ${branch ?? 'HEAD'} on no remote`] : []),
  ]
}

const some = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
