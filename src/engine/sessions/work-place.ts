import { AppError } from '../../contract/errors.ts'
import type { SpawnRequest } from '../../contract/session-views.ts'
import type { ResolvedLaunch } from '../../core/session/launch.ts'
import type { SessionState } from '../../core/session/state.ts'
import type { Worktree } from '../../ports/workspace.ts'
import type { Parts } from './parts.ts'

/** Where a session works: a folder that is there, or one in a work tree that is still to be made. */
export type Placed = {
  readonly workingDir: string
  readonly worktree?: { readonly root: string; readonly tree: Worktree } | undefined
}

type Placing = {
  readonly request: SpawnRequest
  readonly resolved: ResolvedLaunch
  readonly short: string
  readonly by: { readonly parent?: SessionState | undefined }
}

/** The folder of a new session; nothing is made yet, and what cannot be made is refused. */
export async function placeOf(
  parts: Parts,
  { request, resolved, short, by }: Placing,
  signal: AbortSignal,
): Promise<Placed> {
  const folder = folderOf(parts, request, by.parent)
  if (request.worktree === undefined) return { workingDir: folder }
  const branch = request.worktree || `muster/${resolved.friendlyName ?? resolved.name}`
  const { root, base, inside } = await parts.workspace.planWorktree(folder, branch, signal)
  // Outside of the checkout, or its own searches and watchers would find everything twice.
  const path = `${parts.surroundings.home}/worktrees/${short}`
  return {
    workingDir: inside === '' ? path : `${path}/${inside}`,
    worktree: { root, tree: { path, branch, base } },
  }
}

function folderOf(parts: Parts, request: SpawnRequest, parent: SessionState | undefined): string {
  const isGiven = request.working_dir !== undefined
  const isInherited = parts.config().sessions.default_working_dir_behavior === 'inherit'
  const usual = isInherited ? (parent?.managed?.workingDir ?? request.environment?.['PWD']) : undefined
  const folder = isGiven ? request.working_dir : usual
  if (folder === undefined)
    throw new AppError('invalid', 'say in which folder it works: --working-dir <path>')
  return folder
}
