import { agentClis } from '../../contract/agent-clis.ts'
import { AppError } from '../../contract/errors.ts'
import type { Draft } from '../../contract/event.ts'
import { sessionFiles } from '../../contract/home.ts'
import { type SessionId, shortId } from '../../contract/ids.ts'
import type { Asker } from '../../contract/principal.ts'
import type { Fleet } from '../../core/fleet.ts'
import type { ResolvedLaunch } from '../../core/session/launch-plan.ts'
import type { Managed } from '../../core/session/managed.ts'
import type { Conversation, LaunchPlan } from '../../ports/agent-cli.ts'
import type { Kin } from '../../ports/processes.ts'
import type { PaneRef } from '../../ports/terminal.ts'
import type { Worktree } from '../../ports/workspace.ts'
import { askedBy, draftOf, type Root } from './drafts.ts'
import type { Parts } from './session-parts.ts'

const width = 220
const height = 50

/** A session that is recorded and whose program is to run now. */
type Launching = LaunchSpec & {
  readonly root: Root
  /** Who wants it to run. */
  readonly by: Asker
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
  const { root, by, first } = launching
  const short = launching.tmuxSession.slice(launching.tmuxSession.lastIndexOf('-') + 1)
  const effect = { effectId: `launch:${parts.ids.event()}`, effect: 'launch' }
  const span = { spanId: parts.ids.span(), parentSpanId: root.spanId }
  const intended = draftOf(askedBy({ ...root, ...span }, by), 'effect.intended', {
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
    const [folder, secret, kept, group] = await Promise.all([
      parts.folders.open(short),
      parts.grants.grant(root.sessionId),
      keepSpec(parts, launching, root.sessionId),
      parts.processes.openGroup(marksOf(parts, root.sessionId)),
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
        group,
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
        ...(group !== undefined && { isGrouped: true }),
        ...(launching.prompt !== '' && !plan.isPromptGiven && { isPromptTyped: true }),
      }),
      draftOf(root, 'session.state.changed', { from: 'spawned', to: 'starting' }),
      ...(plan.isPromptGiven ? startedWith(parts, launching) : []),
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

/** A program that tells nothing of what it took: that it was started with its prompt is the only receipt there is. */
function startedWith({ engine }: Parts, { root, resolved }: Launching): Draft[] {
  const given = engine.session(root.sessionId)?.queue?.find(({ by }) => by === 'launch')
  if (!given || agentClis[resolved.cli].record !== undefined) return []
  const { messageId, spanId } = given
  const at = { ...root, spanId, parentSpanId: root.spanId }
  return [draftOf(at, 'message.accepted', { messageId, detail: 'its program was started with it' })]
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
      `${resolved.cli} cannot be isolated yet; use claude or your own program, or --isolation none`,
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

/** What starting a program again needs, as it was the first time. */
export type LaunchSpec = {
  readonly resolved: Pick<
    ResolvedLaunch,
    'cli' | 'program' | 'promptBy' | 'args' | 'model' | 'permissionMode' | 'role' | 'name'
  >
  readonly version: string
  readonly workingDir: string
  readonly tmuxSession: string
  /** Without the token, which is given anew each time. */
  readonly env: Readonly<Record<string, string>>
  /** What it may write behind walls, found out once: the session itself could change what a later look would find. */
  readonly writable?: readonly string[]
  /** The trusted settings of a project that it was started with. */
  readonly trusted?: { readonly folder: string; readonly sha256: string }
}

/** Keeps it where secrets may be: the environment holds keys. */
function keepSpec(parts: Parts, spec: LaunchSpec, owner: string): Promise<string> {
  const { resolved, version, workingDir, tmuxSession, env, writable, trusted } = spec
  const kept: LaunchSpec = {
    resolved,
    version,
    workingDir,
    tmuxSession,
    env,
    ...(writable && { writable }),
    ...(trusted && { trusted }),
  }
  return parts.vault.put(new TextEncoder().encode(JSON.stringify(kept)), owner)
}

/** What was kept, or nothing once it has been deleted. */
export async function readSpec(
  parts: Pick<Parts, 'vault'>,
  name: string | undefined,
): Promise<LaunchSpec | undefined> {
  const bytes = name === undefined ? undefined : await parts.vault.get(name)
  return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as LaunchSpec)
}

/** The conversation of a session; `env` is that which its program was started with, and says where it is kept. */
export const conversationOf = (
  { workingDir, startedAtMs, foreignId, transcript }: Managed,
  env: LaunchSpec['env'],
): Conversation => ({
  workingDir,
  startedAtMs,
  env,
  ...(foreignId && { foreignId }),
  ...(transcript && { transcript }),
})

const graceMs = 2000

/** Every process of a session has its id under this name. */
export const sessionMark = 'MUSTER_SESSION'

/** What every process of a session carries, in its environment and, where the system has them, by its group. */
const marksOf = ({ surroundings }: Parts, sessionId: SessionId) => ({
  MUSTER_HOME: surroundings.home,
  [sessionMark]: sessionId,
})

/** The program in a terminal; one that has ended is known by what it led, and its pid may be another's by now. */
export type Program = {
  readonly pid: number
  /** When it started: another process may have its pid since. */
  readonly startedAtMs?: number | undefined
  readonly pane: PaneRef
  readonly isRunning: boolean
}

type Released = {
  readonly sessionId: SessionId
  /** Left out where its pid cannot be trusted: what it started is found by its mark alone. */
  readonly program?: Program | undefined
  /** Who was seen to belong to it. */
  readonly kin?: Kin | undefined
  readonly force?: boolean
  /** The screen of a program that ended by itself says why, and stays to be looked at. */
  readonly keepsTerminal?: boolean
}

/**
 * Ends everything that a session started, wherever it has got to, and takes away its token and its folder; answers what
 * is still alive. The folder goes last: while it is there, a new daemon knows that this is not done.
 */
export async function release(
  parts: Parts,
  released: Released,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const { sessionId, program, kin, force = false } = released
  const root = {
    ...(program && { pid: program.pid }),
    ...(program?.startedAtMs !== undefined && { startedAtMs: program.startedAtMs }),
    ...(program?.isRunning === false && { hasEnded: true as const }),
    ...(kin && { known: kin }),
    mark: { name: sessionMark, value: sessionId },
  }
  const left = await parts.processes.endTree(root, { graceMs: force ? 0 : graceMs }, signal)
  await parts.processes.closeGroup(marksOf(parts, sessionId))
  if (program && !released.keepsTerminal) await parts.terminal.close(program.pane, signal)
  await parts.grants.revoke(sessionId)
  await parts.folders.remove(shortId(sessionId))
  return left
}
