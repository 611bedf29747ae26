import type { Config } from '../../contract/config.ts'
import { AppError } from '../../contract/errors.ts'
import type { Draft } from '../../contract/event.ts'
import { fleet as fleetIds, type RunId, type SessionId, type SpanId, shortId } from '../../contract/ids.ts'
import type { Asker } from '../../contract/principal.ts'
import type { SpawnedView, SpawnRequest } from '../../contract/session-views.ts'
import type { Isolation } from '../../contract/values.ts'
import { narrowTools } from '../../core/delegation/allowed-tools.ts'
import type { Fleet } from '../../core/fleet.ts'
import { refuseUncountedMoney } from '../../core/ledger/budget.ts'
import { type ResolvedLaunch, refuseFreer, resolveLaunch } from '../../core/session/launch-plan.ts'
import { sessionEnvironment } from '../../core/session/session-environment.ts'
import { type ReachedLimit, spawnLimit } from '../../core/session/session-tree.ts'
import type { SessionState } from '../../core/session/state.ts'
import type { Engine } from '../engine.ts'
import { askedBy, draftOf, type Root } from './drafts.ts'
import { launch } from './launch.ts'
import { folderAsked, type Placed, placeOf, wallsOf } from './session-isolation.ts'
import type { Parts } from './session-parts.ts'

const previewChars = 2000

export type SpawnTask = {
  readonly agentId: string
  readonly parentSpanId: SpanId
  /** The run that it works for. */
  readonly parentRunId: RunId
  readonly workflowId?: string
  readonly phase?: string
  /** What its answers are held to. */
  readonly resultSchema: string
  readonly taskId?: string
  /** What it is about, in a few words. */
  readonly about?: string
}

/** Who asks for a session, and where it will hang in the tree. */
export type Spawner = {
  readonly asker: Asker
  readonly parent?: SessionState | undefined
  /** The id that it gets, so that whoever asked finds it again; a new one when left out. */
  readonly sessionId?: SessionId
  /** The task that it is started for, and the name that its work goes under. */
  readonly task?: SpawnTask
  /** What its task may change. */
  readonly scope?: readonly string[]
  /** What it may use of the tools of its role. */
  readonly tools?: readonly string[]
  /** The session that asks, when it is one: nothing it says may lead beyond what it may do itself. */
  readonly caller?: SessionState | undefined
}

/** Started sessions of the last minute; a bound on the rate must survive no restart. */
export type Rate = { times: number[] }

export type Spawning = {
  readonly by: Spawner
  readonly rate: Rate
  /** Runs the start of a recorded session, so that whoever wants to end it meanwhile waits for it. */
  readonly launching: (id: SessionId, start: () => Promise<void>) => Promise<void>
  readonly signal: AbortSignal
}

/** Starts an agent: everything is decided and recorded before anything is done. */
export async function spawn(
  parts: Parts,
  request: SpawnRequest,
  { by, rate, launching, signal }: Spawning,
): Promise<SpawnedView> {
  const folder = folderAsked(request, by.parent)
  const isForWorktree = request.worktree !== undefined
  const loaded = folder === undefined ? undefined : await parts.settingsIn({ folder, isForWorktree }, signal)
  const config = loaded?.config ?? parts.config()
  const held = loaded?.project?.warnings ?? []
  const isLoosened = loaded?.project?.trusted && loaded.project.waiting.length > 0
  if (request.budget && !config.child_agents.progress.enable_token_tracking)
    throw new AppError(
      'invalid',
      'a budget needs its tokens counted: set child_agents.progress.enable_token_tracking to true',
    )
  const sessionId = by.sessionId ?? parts.ids.session()
  const short = shortId(sessionId)
  const context = { config, ...(await parts.agents(folder, signal)), shortId: short }
  if (by.caller?.managed) refuseFreer(request, by.caller.managed, context)
  const resolved = explained(held, () => resolveLaunch(request, context))
  refuseUncountedMoney(request.budget?.usd, parts.prices, [resolved])
  const cli = parts.clis[resolved.cli]
  const version = await cli.version(resolved.program, signal)
  if (version === undefined)
    throw new AppError(
      'not_found',
      `${resolved.program} was not found; install it, or name another CLI with --cli`,
    )
  if (by.caller?.managed?.isolation && request.worktree !== undefined)
    throw new AppError('denied', 'an isolated session cannot create work trees; ask a person')
  const { workingDir, worktree } = await placeOf(parts, { request, config, resolved, short, by }, signal)
  const asked = { request, config, by, workingDir, worktree, cli: resolved.cli }
  const walls = await wallsOf(parts, asked, signal)
  const root: Root = {
    sessionId,
    traceId: by.parent?.traceId ?? parts.ids.trace(),
    runId: parts.ids.run(),
    spanId: parts.ids.span(),
    actor: by.asker.name,
  }
  const depth = by.parent === undefined ? 0 : by.parent.depth + 1
  const tmuxSession = `${resolved.cli}-${short}`
  const view: SpawnedView = {
    session_id: short,
    id: sessionId,
    name: resolved.name,
    friendly_name: resolved.friendlyName ?? null,
    agent_type: resolved.agentType,
    cli: resolved.cli,
    model: resolved.model ?? null,
    permission_mode: resolved.permissionMode,
    isolation: walls.isolation,
    working_dir: workingDir,
    worktree: worktree?.tree ?? null,
    parent_session_id: by.parent ? shortId(by.parent.sessionId) : null,
    tmux_session: tmuxSession,
    attach: `sm attach ${short}`,
    created_at: new Date(parts.clock.now()).toISOString(),
    warnings: [...held, ...resolved.warnings],
    dry_run: null,
  }
  const env = sessionEnvironment(walls.environment, {
    sessionId,
    isolation: walls.isolation,
    home: parts.surroundings.home,
    depth,
    traceId: root.traceId,
    spanId: root.spanId,
    parentId: by.parent?.sessionId,
    binFolder: parts.surroundings.binFolder,
    shellStart: parts.surroundings.shellStart,
  })
  if (request.dry_run)
    return {
      ...view,
      dry_run: {
        argv: [resolved.program, ...resolved.args],
        environment: [...Object.keys(env), 'MUSTER_TOKEN'].sort(),
      },
    }
  const { isolation, writable } = walls
  const where = { workingDir, depth, worktree, isolation }
  const drafts = await facts({ parts, request, config, resolved, root: askedBy(root, by.asker), by }, where)
  const now = parts.clock.now()
  rate.times = rate.times.filter((at) => at > now - 60_000)
  let passed: ReachedLimit | undefined
  let isRecorded = false
  const first = {
    drafts,
    guard: (fleet: Fleet) => {
      if (by.parent) refuseEnded(fleet, by.parent.sessionId)
      const recentSpawns = rate.times.length
      passed = spawnLimit(fleet, config.limits, { parent: by.parent?.sessionId, recentSpawns })
      if (passed) throw overLimit(passed)
      rate.times.push(now)
      isRecorded = true
    },
  }
  const { prompt } = request
  const spec = {
    root,
    by: by.asker,
    resolved,
    version,
    workingDir,
    tmuxSession,
    env,
    prompt,
    first,
    ...(worktree && { worktree }),
    ...(writable && { writable }),
    ...(folder !== undefined && isLoosened && { trusted: { folder, sha256: loaded.project.sha256 } }),
  }
  await launching(sessionId, () => launch(parts, spec, signal)).catch(async (error: unknown) => {
    if (!isRecorded) await parts.vault.release(root.runId, now)
    if (passed) await noteRefusal(parts.engine, by, passed)
    throw error
  })
  return view
}

/** What is not known may be what a project would bring, were it trusted. */
function explained<T>(held: readonly string[], look: () => T): T {
  try {
    return look()
  } catch (error) {
    if (!(error instanceof AppError) || held.length === 0) throw error
    throw new AppError(error.code, [error.message, ...held].join('; '), {
      cause: error,
      details: error.details,
    })
  }
}

type Recording = {
  readonly parts: Parts
  readonly request: SpawnRequest
  readonly config: Config
  readonly resolved: ResolvedLaunch
  readonly root: Root
  readonly by: Spawner
}

/** The facts of a spawn. */
async function facts(
  { parts, request, config, resolved, root, by }: Recording,
  { workingDir, depth, worktree, isolation }: Placed & { depth: number; isolation: Isolation },
): Promise<Draft[]> {
  const parentSpan = by.parent && [...by.parent.open.values()].find(({ kind }) => kind === 'session')?.spanId
  const prompt = request.prompt
  const { agentId = resolved.name, about, resultSchema, ...task } = by.task ?? {}
  const above = { ...(parentSpan ? { parentSpanId: parentSpan } : {}), ...task }
  const drafts = [
    draftOf({ ...root, ...above }, 'session.started', {
      name: resolved.name,
      origin: 'managed',
      cli: resolved.cli,
      workingDir,
      depth,
      agent: { agentId, agentType: resolved.agentType },
      permissionMode: resolved.permissionMode,
      lifecycleMode: request.mode ?? config.child_agents.mode,
      ...(prompt !== '' && { prompt: prompt.slice(0, previewChars) }),
      ...(resolved.friendlyName && { friendlyName: resolved.friendlyName }),
      ...(resolved.model && { model: resolved.model }),
      ...(by.parent && { parentSessionId: by.parent.sessionId }),
      ...(request.budget && { budget: request.budget }),
      ...(worktree && { worktree: worktree.tree }),
      ...(isolation !== 'none' && { isolation }),
      ...((resolved.role?.tools || by.tools) && {
        tools: [...narrowTools(resolved.role?.tools ?? ['*'], by.tools)],
      }),
      ...(resolved.role && { policy: [...resolved.role.policy] }),
      ...(by.scope && { scope: [...by.scope] }),
      ...(resultSchema && { resultSchema }),
      ...(resolved.role?.workGlobs && { workGlobs: [...resolved.role.workGlobs] }),
    }),
  ]
  if (about)
    drafts.push(draftOf(root, 'session.updated', { task: about.slice(0, previewChars), by: by.asker.name }))
  if (prompt !== '')
    drafts.push(
      draftOf({ ...root, spanId: parts.ids.span(), parentSpanId: root.spanId }, 'message.queued', {
        messageId: `${root.sessionId}:prompt`,
        mode: 'sequential',
        by: 'launch',
        preview: prompt.slice(0, previewChars),
        vault: await parts.vault.put(new TextEncoder().encode(prompt), root.runId),
        from: by.asker.name,
      }),
    )
  return drafts
}

/** Refuses a parent that was killed since the caller looked: nobody would end its child with it. */
function refuseEnded(fleet: Fleet, parent: SessionId): void {
  if (!fleet.sessions.has(parent))
    throw new AppError(
      'conflict',
      'that parent has ended; name another, or continue it with sm send, or sm resume if its program is gone',
    )
}

/** What a caller is told who would pass a limit. */
const overLimit = ({ limit, max, what }: ReachedLimit): AppError =>
  limit === 'budget'
    ? new AppError('limited', `${what} is used up; raise it with: sm approvals, or sm budget`)
    : new AppError(
        'limited',
        `the limit of ${max} ${what} is reached (limits.${limit}); end some, or raise it`,
      )

/** Writes the start of a session that needs no program, within the limits of what is above it. */
export async function beginWithin(
  engine: Pick<Engine, 'session' | 'perform' | 'record'>,
  drafts: readonly Draft[],
  above: Pick<Spawner, 'asker' | 'parent'> & {
    readonly limits: Config['limits']
    /** A parent that has ended is refused. */
    readonly isOpenParent?: true
  },
): Promise<void> {
  const { parent, limits } = above
  let passed: ReachedLimit | undefined
  // Within the write: many that begin at once would all find room before it.
  const within = (fleet: Fleet): void => {
    if (!parent) return
    if (above.isOpenParent) refuseEnded(fleet, parent.sessionId)
    passed = spawnLimit(fleet, limits, { parent: parent.sessionId, recentSpawns: 0 })
    if (passed) throw overLimit(passed)
  }
  await engine.perform(drafts, within).catch(async (error: unknown) => {
    if (passed) await noteRefusal(engine, above, passed)
    throw error
  })
}

/**
 * Writes that a limit refused something: a fact of the parent, or of the fleet where there is none that still takes
 * facts. Where nothing can be written, the caller is told of the limit all the same.
 */
async function noteRefusal(
  engine: Pick<Engine, 'session' | 'perform' | 'record'>,
  { asker, parent }: Pick<Spawner, 'asker' | 'parent'>,
  passed: ReachedLimit,
): Promise<void> {
  const { name: actor, by } = asker
  const payload = { ...passed, by: actor }
  const state = parent && engine.session(parent.sessionId)
  const span = state && [...state.open.values()][0]
  try {
    if (state && span) {
      const { sessionId } = state
      const { traceId, runId, spanId } = span
      return void (await engine.perform([
        draftOf({ sessionId, traceId, runId, spanId, actor, by }, 'limit.refused', payload),
      ]))
    }
    await engine.record([draftOf({ ...fleetIds, actor, by }, 'limit.refused', payload)])
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
}
