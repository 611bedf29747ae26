import type { AgentCliName } from '../../contract/config/names.ts'
import type { Config } from '../../contract/config.ts'
import { AppError } from '../../contract/errors.ts'
import type { SpawnRequest } from '../../contract/session-views.ts'
import type { Isolation } from '../../contract/values.ts'
import type { ResolvedLaunch } from '../../core/session/launch-plan.ts'
import { inheritedVariables } from '../../core/session/session-environment.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { Worktree } from '../../ports/workspace.ts'
import { draftOf } from './drafts.ts'
import { readSpec } from './launch.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'
import type { Spawner } from './spawn.ts'

/** What a new session takes over from outside, and what it may write when it is to run behind walls. */
type Walls = {
  readonly isolation: Isolation
  readonly environment: Readonly<Record<string, string>>
  readonly writable?: readonly string[]
}

type Asked = {
  readonly request: SpawnRequest
  readonly config: Config
  readonly by: Spawner
  readonly workingDir: string
  readonly worktree: Placed['worktree']
  readonly cli: AgentCliName
}

/** A session behind walls starts others behind the same walls: nothing it says may open one. */
export async function wallsOf(
  parts: Parts,
  { request, config, by, workingDir, worktree, cli }: Asked,
  signal: AbortSignal,
): Promise<Walls> {
  const { sessions } = config
  const allowed = sessions.inherit_environment_vars
  if (by.caller?.managed?.isolation) return sameWalls(parts, { request, by, cli }, allowed)
  const environment = inheritedVariables(request.environment ?? parts.surroundings.env, { cli, allowed })
  const isolation = request.isolation ?? by.parent?.managed?.isolation ?? sessions.isolation
  if (isolation === 'none') return { isolation, environment }
  const place = worktree ? { workingDir: worktree.tree.path, treeOf: worktree.root } : { workingDir }
  const writable = await parts.isolation.writable(place, environment, signal)
  return { isolation, environment, writable }
}

async function sameWalls(
  parts: Parts,
  { request, by, cli }: Omit<Asked, 'config' | 'workingDir' | 'worktree'>,
  allowed: readonly string[],
): Promise<Walls> {
  if (request.isolation === 'none')
    throw new AppError('denied', 'an isolated session can start only isolated sessions; ask a person')
  // Arguments can name files, which the daemon would read for a session that cannot.
  if (request.args && request.args.length > 0)
    throw new AppError('denied', 'an isolated session cannot pass arguments; use an agent type or a preset')
  const spec = await readSpec(parts, by.caller?.managed?.launch)
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
  readonly config: Config
  readonly resolved: ResolvedLaunch
  readonly short: string
  readonly by: { readonly parent?: SessionState | undefined }
}

/** The folder of a new session; nothing is made yet, and what cannot be made is refused. */
export async function placeOf(
  parts: Parts,
  { request, config, resolved, short, by }: Placing,
  signal: AbortSignal,
): Promise<Placed> {
  const folder = folderOf(config, request, by.parent)
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

/** The folder that a session is asked to work in, or that it would take from where it is asked. */
export const folderAsked = (request: SpawnRequest, parent: SessionState | undefined): string | undefined =>
  request.working_dir ?? parent?.managed?.workingDir ?? request.environment?.['PWD']

function folderOf({ sessions }: Config, request: SpawnRequest, parent: SessionState | undefined): string {
  const isInherited = sessions.default_working_dir_behavior === 'inherit'
  const folder = isInherited ? folderAsked(request, parent) : request.working_dir
  if (folder === undefined)
    throw new AppError('invalid', 'say in which folder it works: --working-dir <path>')
  return folder
}

const writableOf = new WeakMap<SessionWatch, readonly string[]>()

/** Takes away what a session behind walls left for git to run outside of them, and says so. */
export async function undoTraps(
  parts: Pick<Parts, 'vault' | 'isolation'>,
  watch: SessionWatch,
): Promise<void> {
  const state = watch.state()
  if (!state?.managed?.isolation) return
  const writable = writableOf.get(watch) ?? (await readSpec(parts, state.managed.launch))?.writable
  if (!writable) return
  writableOf.set(watch, writable)
  const undone = await parts.isolation.undo(writable)
  if (undone.length === 0 || hasEnded(state)) return
  await watch.say([
    draftOf(watch.root, 'decision.made', {
      subject: 'other',
      candidates: [...undone],
      choice: 'removed',
      reason:
        'by this file git would read settings that the session wrote, and run programs outside of its sandbox',
    }),
  ])
}
