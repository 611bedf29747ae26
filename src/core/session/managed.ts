import type { Capability } from '../../contract/agent-definition.ts'
import type { Draft } from '../../contract/event.ts'
import type { Signal } from '../../contract/signal.ts'
import type { Budget, LoopMode, PermissionMode } from '../../contract/values.ts'

/** Where a session's program runs. */
export type TerminalPlace = {
  readonly socket: string
  readonly serverId: string
  readonly tmuxSession: string
  readonly terminalId: string
  readonly paneId: string
  readonly pid: number
  /** Without it the pid proves nothing. */
  readonly pidStartedMs?: number
}

/** A git work tree that was made for one session, with the branch and the commit it began at. */
type Worktree = { readonly path: string; readonly branch: string; readonly base: string }

/** What is known of a session that Muster runs or observes, beyond its lifecycle; it survives the session's end. */
export type Managed = {
  readonly origin: 'managed' | 'observed' | 'runtime' | 'workflow'
  readonly name: string
  readonly friendlyName?: string
  readonly agentType?: string
  readonly cli: string
  readonly cliVersion?: string
  readonly program?: string
  readonly model?: string
  readonly workingDir: string
  readonly permissionMode?: PermissionMode
  readonly lifecycleMode?: 'auto' | 'manual' | 'supervised'
  /** How a built-in agent works; undefined for an agent CLI. */
  readonly loop?: LoopMode
  readonly budget?: Budget
  /** Its budget is used up and nobody has given it more. */
  readonly isSpent?: boolean
  /** A git work tree that only it uses. */
  readonly worktree?: Worktree
  readonly isolation?: 'bwrap'
  /** The only tools it may use; undefined means no limit. */
  readonly tools?: readonly string[]
  /** The only actions that its role may take, and the only files that it may change. */
  readonly policy?: readonly Capability[]
  readonly workGlobs?: readonly string[]
  readonly scope?: readonly string[]
  /** What its answers are held to. */
  readonly resultSchema?: string
  readonly foreignId?: string
  readonly transcript?: string
  /** Where its record begins to be ours; what is before it is history. */
  readonly recordFrom?: number
  readonly task?: string
  readonly lock?: string
  readonly place?: TerminalPlace
  /** Where the vault keeps how it was started. */
  readonly launch?: string
  readonly isPromptTyped?: boolean
  /** It was given a prompt when it was started. */
  readonly hasPrompt?: boolean
  /** What its program starts is known by a control group. */
  readonly isGrouped?: boolean
  /** Its program continues an earlier conversation. */
  readonly isResumed?: boolean
  readonly startedAtMs: number
}

/** What is now known; events of other sessions are not given to it. */
export function evolveManaged(
  known: Managed | undefined,
  event: Draft,
  recordedAt: string,
): Managed | undefined {
  if (event.type === 'session.started') return begun(event, recordedAt)
  if (!known) return undefined
  if (event.type === 'session.launched') {
    const { launch, isPromptTyped, pidStartedMs, isResumed, isGrouped } = event.payload
    const { socket, serverId, tmuxSession, terminalId, paneId, pid, cli, cliVersion, program, foreignId } =
      event.payload
    const { isGrouped: _before, ...rest } = known
    return {
      ...rest,
      // Whoever started it first, from here on it is ours.
      origin: 'managed',
      cli,
      program,
      place: {
        socket,
        serverId,
        tmuxSession,
        terminalId,
        paneId,
        pid,
        ...(pidStartedMs !== undefined && { pidStartedMs }),
      },
      ...(cliVersion && { cliVersion }),
      ...(foreignId && { foreignId }),
      ...(launch && { launch }),
      ...(isPromptTyped && { isPromptTyped }),
      ...(isResumed && { isResumed }),
      ...(isGrouped && { isGrouped }),
    }
  }
  if (event.type === 'budget.exceeded') return { ...known, isSpent: true }
  return event.type === 'session.updated' ? updated(known, event.payload) : known
}

type Updated = Extract<Draft, { type: 'session.updated' }>['payload']

function updated(known: Managed, change: Updated): Managed {
  const { task: _task, lock: _lock, worktree: _worktree, isSpent, ...rest } = known
  const { parentSessionId: _parent, depth: _depth, by: _by, ...told } = change
  const { task = known.task, lock = known.lock, worktree = known.worktree, ...said } = told
  const next = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
  const { recordFrom: _recordFrom, ...anew } = rest
  const isOther = change.foreignId !== undefined && change.foreignId !== known.foreignId
  return {
    // Of another conversation everything is ours: it began while the session was.
    ...(isOther ? anew : rest),
    ...next,
    ...(task && { task }),
    ...(lock && { lock }),
    ...(worktree && { worktree }),
    // Another budget is a new beginning; whether that is used up too is found by the next figure.
    ...(isSpent && !change.budget && { isSpent }),
  }
}

function begun(event: Extract<Draft, { type: 'session.started' }>, recordedAt: string): Managed | undefined {
  const { payload } = event
  if (payload.origin === undefined || payload.origin === 'imported') return undefined
  return {
    origin: payload.origin,
    name: payload.name ?? event.sessionId,
    cli: payload.cli ?? (payload.origin === 'managed' || payload.origin === 'observed' ? 'custom' : 'own'),
    workingDir: payload.workingDir ?? '/',
    startedAtMs: Date.parse(event.timestamp ?? recordedAt),
    ...(payload.friendlyName && { friendlyName: payload.friendlyName }),
    ...(payload.agent && { agentType: payload.agent.agentType }),
    ...(payload.model && { model: payload.model }),
    ...(payload.permissionMode && { permissionMode: payload.permissionMode }),
    ...(payload.lifecycleMode && { lifecycleMode: payload.lifecycleMode }),
    ...(payload.loop && { loop: payload.loop }),
    ...(payload.budget && { budget: payload.budget }),
    ...(payload.worktree && { worktree: payload.worktree }),
    ...(payload.isolation && { isolation: payload.isolation }),
    ...(payload.tools && { tools: payload.tools }),
    ...(payload.policy && { policy: payload.policy }),
    ...(payload.workGlobs && { workGlobs: payload.workGlobs }),
    ...(payload.scope && { scope: payload.scope }),
    ...(payload.resultSchema && { resultSchema: payload.resultSchema }),
    ...(payload.foreignId && { foreignId: payload.foreignId }),
    ...(payload.prompt && { hasPrompt: true }),
  }
}

/** An id of a conversation becomes an argument of its program and a part of paths. */
const conversationId = /^[A-Za-z0-9][\w-]{7,127}$/

/**
 * What a CLI says of itself and was not known: its conversation, its record, its model, its version. It is the session's
 * own word: a conversation that cannot be one or is another's is not taken, nor a record that is not named by it.
 */
export function newlyReported(
  signal: Signal,
  managed: Managed | undefined,
  isAnothers: (foreignId: string) => boolean,
) {
  if (signal.kind !== 'ready' || signal.agent !== undefined || !managed) return undefined
  const { foreignId = managed.foreignId, transcript, model, version } = signal
  const isKnown = foreignId === managed.foreignId
  const isOwn =
    foreignId !== undefined && (isKnown || (conversationId.test(foreignId) && !isAnothers(foreignId)))
  const isNamed = isOwn && transcript?.split('/').at(-1)?.includes(foreignId.slice(0, 8))
  const news = {
    ...(isOwn && !isKnown && { foreignId }),
    ...(isNamed && transcript !== managed.transcript && { transcript }),
    ...(model && model !== managed.model && { model }),
    ...(version && version !== managed.cliVersion && { cliVersion: version }),
  }
  return Object.keys(news).length === 0 ? undefined : news
}
