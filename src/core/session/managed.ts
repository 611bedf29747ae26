import type { Draft } from '../../contract/event.ts'
import type { Budget, PermissionMode } from '../../contract/values.ts'

/** Where a session's program runs. */
export type Place = {
  readonly socket: string
  readonly serverId: string
  readonly tmuxSession: string
  readonly terminalId: string
  readonly paneId: string
  readonly pid: number
  /** Without it the pid proves nothing. */
  readonly pidStartedMs?: number
}

/** What is known of a session that Muster runs or observes, beyond its lifecycle; it survives the session's end. */
export type Managed = {
  readonly origin: 'managed' | 'observed'
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
  readonly budget?: Budget
  /** The only tools it may use; nothing limits nothing. */
  readonly tools?: readonly string[]
  readonly foreignId?: string
  readonly transcript?: string
  /** Where its record begins to be ours; what is before it is history. */
  readonly recordFrom?: number
  readonly task?: string
  readonly lock?: string
  readonly place?: Place
  /** Where the vault keeps how it was started. */
  readonly launch?: string
  readonly isPromptTyped?: boolean
  /** It was given a prompt when it was started. */
  readonly hasPrompt?: boolean
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
    const { launch, isPromptTyped, pidStartedMs } = event.payload
    const { socket, serverId, tmuxSession, terminalId, paneId, pid, cli, cliVersion, program, foreignId } =
      event.payload
    return {
      ...known,
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
    }
  }
  return event.type === 'session.updated' ? updated(known, event.payload) : known
}

type Updated = Extract<Draft, { type: 'session.updated' }>['payload']

function updated(known: Managed, change: Updated): Managed {
  const { task: _task, lock: _lock, ...rest } = known
  const {
    parentSessionId: _parent,
    depth: _depth,
    by: _by,
    task = known.task,
    lock = known.lock,
    ...said
  } = change
  const next = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
  return { ...rest, ...next, ...(task && { task }), ...(lock && { lock }) }
}

function begun(event: Extract<Draft, { type: 'session.started' }>, recordedAt: string): Managed | undefined {
  const { payload } = event
  if (payload.origin !== 'managed' && payload.origin !== 'observed') return undefined
  return {
    origin: payload.origin,
    name: payload.name ?? event.sessionId,
    cli: payload.cli ?? 'custom',
    workingDir: payload.workingDir ?? '/',
    startedAtMs: Date.parse(event.timestamp ?? recordedAt),
    ...(payload.friendlyName && { friendlyName: payload.friendlyName }),
    ...(payload.agent && { agentType: payload.agent.agentType }),
    ...(payload.model && { model: payload.model }),
    ...(payload.permissionMode && { permissionMode: payload.permissionMode }),
    ...(payload.lifecycleMode && { lifecycleMode: payload.lifecycleMode }),
    ...(payload.budget && { budget: payload.budget }),
    ...(payload.tools && { tools: payload.tools }),
    ...(payload.foreignId && { foreignId: payload.foreignId }),
    ...(payload.prompt && { hasPrompt: true }),
  }
}
