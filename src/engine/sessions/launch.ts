import { AppError } from '../../contract/errors.ts'
import type { Draft } from '../../contract/event.ts'
import { sessionFiles } from '../../contract/home.ts'
import type { Fleet } from '../../core/fleet.ts'
import type { LaunchPlan } from '../../ports/agent-cli.ts'
import type { Worktree } from '../../ports/workspace.ts'
import { draftOf, type Root } from './drafts.ts'
import { keepSpec, type LaunchSpec } from './launch-spec.ts'
import type { Parts } from './parts.ts'
import { release } from './release.ts'

const width = 220
const height = 50

/** A session that is recorded and whose program is to run now. */
export type Launching = LaunchSpec & {
  readonly root: Root
  readonly prompt: string
  /** A work tree that is to be made first. */
  readonly worktree?: { readonly root: string; readonly tree: Worktree }
  /** The CLI's own conversation to go on with. */
  readonly resume?: string
  /** What is to be recorded with the intention, and what may still refuse both. */
  readonly first?: { readonly drafts: readonly Draft[]; readonly guard?: (fleet: Fleet) => void }
}

/** Starts the program of a session; a failure ends the session with its reason and leaves nothing behind. */
export async function launch(parts: Parts, launching: Launching, signal: AbortSignal): Promise<void> {
  const { root, first } = launching
  const short = launching.tmuxSession.slice(launching.tmuxSession.lastIndexOf('-') + 1)
  const effect = { effectId: `launch:${parts.ids.event()}`, effect: 'launch' }
  const span = { spanId: parts.ids.span(), parentSpanId: root.spanId }
  const intended = draftOf({ ...root, ...span }, 'effect.intended', {
    ...effect,
    target: launching.tmuxSession,
  })
  await parts.engine.perform([...(first?.drafts ?? []), intended], first?.guard)
  const never = new AbortController().signal
  let opened: Awaited<ReturnType<Parts['terminal']['open']>> | undefined
  try {
    if (launching.worktree)
      await parts.workspace.addWorktree(launching.worktree.root, launching.worktree.tree, signal)
    // Each waits for the disk; none needs another.
    const [folder, secret, kept] = await Promise.all([
      parts.folders.open(short),
      parts.grants.grant(root.sessionId),
      keepSpec(parts, launching, root.sessionId),
    ])
    const plan = await parts.clis[launching.resolved.cli].plan(requestOf(parts, launching, folder), signal)
    // Some CLIs keep every variable that is called a token from the programs they run; `sm` finds it here.
    const token = {
      path: `${folder}/${sessionFiles.token}`,
      text: secret,
      mode: 0o600,
    }
    await parts.folders.write([...plan.files, token])
    signal.throwIfAborted()
    // Not under the caller's signal: what has started must be known here to be ended with all that it started.
    opened = await parts.terminal.open(
      {
        name: launching.tmuxSession,
        owner: root.sessionId,
        workingDir: launching.workingDir,
        env: { ...launching.env, ...plan.env, MUSTER_TOKEN: secret },
        argv: await behindWalls(parts, { launching, plan, folder }, signal),
        folder,
        width,
        height,
      },
      never,
    )
    const pidStartedMs = await parts.processes.startedAt(opened.pid)
    signal.throwIfAborted()
    const foreignId = plan.foreignId ?? launching.resume
    await parts.engine.perform([
      draftOf({ ...root, ...span }, 'effect.done', {
        ...effect,
        receipt: { pane: opened.pane, pid: opened.pid },
      }),
      draftOf(root, 'session.launched', {
        socket: parts.surroundings.tmuxSocket,
        tmuxSession: launching.tmuxSession,
        serverId: opened.server,
        terminalId: opened.session,
        paneId: opened.pane,
        pid: opened.pid,
        ...(pidStartedMs !== undefined && { pidStartedMs }),
        cli: launching.resolved.cli,
        program: launching.resolved.program,
        launch: kept,
        ...(launching.version && { cliVersion: launching.version }),
        ...(foreignId && { foreignId }),
        ...(launching.resume && { isResumed: true }),
        ...(launching.prompt !== '' && !plan.isPromptGiven && { isPromptTyped: true }),
      }),
      draftOf(root, 'session.state.changed', { from: 'spawned', to: 'starting' }),
    ])
  } catch (error) {
    const reason =
      error instanceof AppError ? error.message : `the program could not be started: ${String(error)}`
    const started = opened && { pid: opened.pid, pane: opened, isRunning: true }
    await release(parts, { sessionId: root.sessionId, program: started, force: true }, never)
    await parts.engine.perform([
      draftOf({ ...root, ...span }, 'effect.done', { ...effect, receipt: { error: reason } }),
      draftOf(root, 'session.failed', { reason: 'spawn failed', error: reason }),
    ])
    if (launching.worktree)
      await parts.workspace
        .removeWorktree(launching.worktree.tree, never)
        .catch((failure: unknown) => parts.onBug(failure, 'removing a work tree'))
    throw error
  }
}

/** The program as it is, or behind walls where the session is to have them. */
async function behindWalls(
  parts: Parts,
  { launching, plan, folder }: { launching: Launching; plan: LaunchPlan; folder: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { writable, workingDir, env, resolved } = launching
  if (!writable) return plan.argv
  if (!plan.homes)
    throw new AppError(
      'invalid',
      `${resolved.cli} cannot be isolated yet; use claude or a program of your own, or --isolation none`,
    )
  const path = env['PATH'] ?? ''
  return parts.isolation.wrap(
    { argv: plan.argv, workingDir, writable, folder, homes: plan.homes, path },
    signal,
  )
}

function requestOf(parts: Parts, launching: Launching, folder: string) {
  const { resolved, version, workingDir, env, prompt, resume } = launching
  return {
    command: resolved.program,
    args: resolved.args,
    version,
    workingDir,
    name: resolved.name,
    permissionMode: resolved.permissionMode,
    promptBy: resolved.promptBy,
    resume: resume !== undefined,
    folder,
    hookUrl: parts.surroundings.hookUrl(),
    hookCommand: [...parts.surroundings.hookCommand, resolved.cli],
    env,
    ...(prompt !== '' && { prompt }),
    ...(resolved.model && { model: resolved.model }),
    ...(resolved.role && { role: resolved.role }),
    ...(resume && { foreignId: resume }),
  }
}
