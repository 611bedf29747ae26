import type { AgentCliName } from '../../contract/config/names.ts'
import { AppError } from '../../contract/errors.ts'
import type { SpawnRequest } from '../../contract/session-views.ts'
import type { Isolation } from '../../contract/values.ts'
import type { ResolvedLaunch } from '../../core/session/launch-plan.ts'
import { inheritedVariables } from '../../core/session/session-environment.ts'
import type { SessionState } from '../../core/session/state.ts'
import type { Worktree } from '../../ports/workspace.ts'
import { readSpec } from './launch.ts'
import type { Parts } from './session-parts.ts'
import type { Spawner } from './spawn.ts'

/** What a new session takes over from outside, and what it may write when it is to run behind walls. */
type Walls = {
  readonly isolation: Isolation
  readonly environment: Readonly<Record<string, string>>
  readonly writable?: readonly string[]
}

type Asked = {
  readonly request: SpawnRequest
  readonly by: Spawner
  readonly workingDir: string
  readonly worktree: Placed['worktree']
  readonly cli: AgentCliName
}

/** A session behind walls starts others behind the same walls: nothing it says may open one. */
export async function wallsOf(
  parts: Parts,
  { request, by, workingDir, worktree, cli }: Asked,
  signal: AbortSignal,
): Promise<Walls> {
  const { sessions } = parts.config()
  const allowed = sessions.inherit_environment_vars
  if (by.confined) return sameWalls(parts, { request, by, cli }, allowed)
  const environment = inheritedVariables(request.environment ?? parts.surroundings.env, { cli, allowed })
  const isolation = request.isolation ?? by.parent?.managed?.isolation ?? sessions.isolation
  if (isolation === 'none') return { isolation, environment }
  const place = worktree ? { workingDir: worktree.tree.path, treeOf: worktree.root } : { workingDir }
  const writable = await parts.isolation.writable(place, environment, signal)
  return { isolation, environment, writable }
}

async function sameWalls(
  parts: Parts,
  { request, by, cli }: Omit<Asked, 'workingDir' | 'worktree'>,
  allowed: readonly string[],
): Promise<Walls> {
  if (request.isolation === 'none')
    throw new AppError('denied', 'an isolated session can start only isolated sessions; ask a person')
  // Arguments can name files, which the daemon would read for a session that cannot.
  if (request.args && request.args.length > 0)
    throw new AppError('denied', 'an isolated session cannot pass arguments; use an agent type or a preset')
  const spec = await readSpec(parts, by.confined?.managed?.launch)
  if (!spec?.writable)
    throw new AppError('conflict', 'the sandbox of this session is no longer known; ask a person')
  const environment = inheritedVariables(spec.env, { cli, allowed })
  return { isolation: 'bwrap', environment, writable: spec.writable }
}

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
