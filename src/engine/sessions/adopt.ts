import type { AgentCliName } from '../../contract/config/names.ts'
import { AppError } from '../../contract/errors.ts'
import type { Draft } from '../../contract/event.ts'
import { type SessionId, shortId } from '../../contract/ids.ts'
import type { Asker } from '../../contract/principal.ts'
import { resolveLaunch } from '../../core/session/launch-plan.ts'
import { sessionEnvironment } from '../../core/session/session-environment.ts'
import { checkAdoption, leavesOrphans, levelsBelow, spawnLimit } from '../../core/session/session-tree.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import { askedBy, draftOf, type Root } from './drafts.ts'
import { launch } from './launch.ts'
import { elsewhere, runsOutside } from './resume.ts'
import { wallsOf } from './session-isolation.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'

/** Hangs a session, with all below it, under another parent or at the root; one that was abandoned is open again. */
export async function adopt(
  { engine, config }: Pick<Parts, 'engine' | 'config'>,
  watch: SessionWatch,
  { parent, by }: { parent: SessionId | undefined; by: Asker },
): Promise<void> {
  const depth = parent === undefined ? 0 : (engine.session(parent)?.depth ?? 0) + 1
  const root = askedBy(watch.root, by)
  const isAbandoned = watch.state()?.lifecycle === 'abandoned'
  const drafts = [
    ...(isAbandoned ? [draftOf(root, 'session.reopened', { by: by.name, reason: 'adopted' })] : []),
    draftOf(root, 'session.updated', { parentSessionId: parent ?? null, depth, by: by.name }),
    ...depthsBelow(Array.from(engine.sessions()), { top: watch.id, depth, by }),
  ]
  await watch.say(drafts, ({ sessions }) =>
    checkAdoption(sessions, { child: watch.id, parent }, config().limits),
  )
}

function depthsBelow(
  open: readonly Readonly<SessionState>[],
  { top, depth, by }: { top: SessionId; depth: number; by: Asker },
): Draft[] {
  const levels = levelsBelow(open, top)
  return open.flatMap(({ sessionId, traceId, open: spans }): Draft[] => {
    const level = levels.get(sessionId)
    const span = [...spans.values()].find(({ kind }) => kind === 'session')
    if (!level || !span || !traceId) return []
    const { runId, spanId } = span
    const root = askedBy({ sessionId, traceId, runId, spanId, actor: by.name }, by)
    return [draftOf(root, 'session.updated', { depth: depth + level, by: by.name })]
  })
}

/** Who wants an observed session, and where it is to hang. */
type TakeOver = {
  readonly state: Readonly<SessionState>
  readonly parent: SessionId | undefined
  readonly by: Asker
  readonly environment: Readonly<Record<string, string>> | undefined
}

/** Where a CLI keeps its conversations is said by the environment in which this one was found. */
const places = ['HOME', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME']

/** Goes on with a conversation that was begun outside of Muster, once nobody has it open any more. */
export async function takeOver(
  parts: Parts,
  { state, parent, by, environment }: TakeOver,
  signal: AbortSignal,
): Promise<void> {
  const { managed, sessionId } = state
  const cli = managed?.cli as AgentCliName
  if (managed?.foreignId === undefined)
    throw new AppError('conflict', 'its conversation is not known, so it cannot be continued')
  const found = { cli, foreignId: managed.foreignId, env: parts.surroundings.env }
  const pid = await runsOutside(parts, found, signal)
  if (pid !== undefined) throw new AppError('conflict', `${elsewhere(pid)}: sm adopt ${shortId(sessionId)}`)
  const short = shortId(sessionId)
  const config = parts.config()
  const resolved = {
    ...resolveLaunch({ agent_type: cli, prompt: '' }, { config, agents: [], shortId: short }),
    name: managed.name,
  }
  const version = await parts.clis[cli].version(resolved.program, signal)
  if (version === undefined)
    throw new AppError(
      'not_found',
      `${resolved.program} was not found; install it, then run: sm adopt ${short}`,
    )
  const above = parent && parts.engine.session(parent)
  const depth = parent === undefined ? 0 : (above?.depth ?? 0) + 1
  const root = rootFor(parts, state, by.name)
  const asking = askedBy(root, by)
  const request = { agent_type: cli, prompt: '', ...(environment && { environment }) }
  const { workingDir } = managed
  const asked = { request, config, by: { asker: by, parent: above }, workingDir, worktree: undefined, cli }
  const { isolation, environment: taken, writable } = await wallsOf(parts, asked, signal)
  const size = managed.transcript && (await parts.files.read(managed.transcript, 0, 1))?.size
  await launch(
    parts,
    {
      root,
      by,
      resolved,
      version,
      workingDir,
      ...(writable && { writable }),
      tmuxSession: `${cli}-${short}`,
      env: sessionEnvironment(
        { ...taken, ...whereabouts(parts) },
        {
          sessionId,
          home: parts.surroundings.home,
          depth,
          isolation,
          traceId: root.traceId,
          spanId: root.spanId,
          parentId: parent,
          binFolder: parts.surroundings.binFolder,
          shellStart: parts.surroundings.shellStart,
        },
      ),
      prompt: '',
      resume: managed.foreignId,
      first: {
        drafts: [
          ...(hasEnded(state)
            ? [draftOf(asking, 'session.reopened', { by: by.name, reason: 'adopted' })]
            : []),
          draftOf(asking, 'session.updated', {
            parentSessionId: parent ?? null,
            depth,
            permissionMode: resolved.permissionMode,
            // What was said before is history: it stays in its own file and is counted by nobody.
            ...(size && { recordFrom: size }),
            by: by.name,
          }),
        ],
        guard: (fleet) => {
          const passed = spawnLimit(fleet, config.limits, { parent: undefined, recentSpawns: 0 })
          if (passed)
            throw new AppError(
              'limited',
              `the limit of ${passed.max} ${passed.what} is reached; end some first`,
            )
          checkAdoption(fleet.sessions, { child: sessionId, parent }, config.limits)
        },
      },
    },
    signal,
  )
}

const whereabouts = ({ surroundings: { env } }: Parts): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => places.includes(name)))

function rootFor(parts: Parts, state: Readonly<SessionState>, actor: string): Root {
  const span = [...state.open.values()].find(({ kind }) => kind === 'session')
  return {
    sessionId: state.sessionId,
    traceId: state.traceId ?? parts.ids.trace(),
    runId: span?.runId ?? parts.ids.run(),
    spanId: span?.spanId ?? parts.ids.span(),
    actor,
  }
}

/**
 * Marks every session whose parent died without ending it, once; its program goes on and it can be adopted. One that
 * cannot be marked is told of when all others are.
 */
export async function abandonOrphans(
  { engine }: Pick<Parts, 'engine'>,
  hasProgram: (id: SessionId) => boolean,
): Promise<void> {
  const failures: unknown[] = []
  for (const state of Array.from(engine.sessions())) {
    const { managed, parentSessionId } = state
    const parent = parentSessionId && engine.session(parentSessionId)
    // One that was brought back without being adopted is not abandoned again.
    if (managed?.origin !== 'managed' || state.isOrphan || !parent?.managed) continue
    if (leavesOrphans(parent, hasProgram(parent.sessionId)))
      await abandon(engine, state, parent).catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

async function abandon(
  engine: Parts['engine'],
  { sessionId, traceId, open }: Readonly<SessionState>,
  parent: Readonly<SessionState>,
): Promise<void> {
  const span = [...open.values()].find(({ kind }) => kind === 'session')
  if (!span || !traceId) return
  const { runId, spanId } = span
  const name = parent.managed?.friendlyName ?? parent.managed?.name ?? 'its parent'
  const reason = `its parent ${name} (${shortId(parent.sessionId)}) is gone: ${parent.lifecycle}`
  const ended = draftOf({ sessionId, traceId, runId, spanId, actor: 'muster' }, 'session.completed', {
    outcome: 'abandoned',
    reason,
  })
  try {
    await engine.perform([ended])
  } catch (error) {
    // It came to an end of its own in the meantime.
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error
  }
}
