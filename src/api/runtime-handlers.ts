import { AppError } from '../contract/errors.ts'
import { fleet, type RunId, shortId } from '../contract/ids.ts'
import type { RunRow } from '../contract/index-rows.ts'
import type { Principal } from '../contract/principal.ts'
import type { Api } from '../contract/routes.ts'
import type { runtimeRoutes } from '../contract/runtime-routes.ts'
import { LoopMode } from '../contract/values.ts'
import { labelled } from '../core/messages/message-text.ts'
import { boardItems } from '../core/session/blackboard-items.ts'
import { hasEnded } from '../core/session/state.ts'
import type { Engine } from '../engine/engine.ts'
import { askedBy, draftOf, sessionRoot } from '../engine/sessions/drafts.ts'
import type { Clock } from '../ports/clock.ts'
import type { ProjectFiles } from '../ports/files.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Directory } from './directory.ts'
import { replayView, runContext, runRecord, workspaceTree } from './run-views.ts'
import { kindOf, type SessionKinds } from './session-kinds/session-kind.ts'
import { messageView } from './session-views.ts'
import {
  askerOf,
  byOf,
  mayAct,
  nameOf,
  refuseBehindWalls,
  refuseOnDuty,
  seenBy,
  sees,
  within,
} from './who-may.ts'

type RuntimeHandlerDeps = {
  readonly runtime: Runtime
  readonly directory: Directory
  readonly engine: Engine
  readonly clock: Clock
  readonly kinds: SessionKinds
  readonly projects: ProjectFiles
  readonly usualMode: () => LoopMode
}

const mostEvents = 5000

/** What stands behind the routes of the runtime contract. */
export function runtimeHandlers(deps: RuntimeHandlerDeps): Pick<Api, keyof typeof runtimeRoutes> {
  const { runtime, directory, engine, clock } = deps
  const runOf = async (runId: RunId, principal: Principal): Promise<RunRow> => {
    await directory.caughtUp()
    const [found] = await directory.ask('runs', { runId, isAgent: true, limit: 1 })
    const row = await seenBy(directory, principal, found)
    if (!row) throw new AppError('not_found', `no run ${runId}; GET /api/agent-runs lists them`)
    return row
  }
  const lastRun = async (word: string): Promise<RunRow> => {
    await directory.caughtUp()
    const { sessionId, shortId: short } = await directory.find(word)
    const rows = await directory.ask('runs', { sessionId, isAgent: true, isNewestFirst: true, limit: 1000 })
    const row = rows.find(({ parentRunId }) => parentRunId === null)
    if (!row) throw new AppError('not_found', `${short} has no run yet`)
    return row
  }
  /** The runs that are under way for a run, or for one of those. */
  const runsBelow = async (runId: RunId): Promise<RunId[]> => {
    const found = new Set<RunId>([runId])
    for (const parentRunId of found)
      for (const row of await directory.ask('runs', { parentRunId, isAgent: true, isOpen: true }))
        found.add(row.runId)
    found.delete(runId)
    return [...found]
  }
  const modeOf = (root: string): LoopMode => engine.mode(root) ?? deps.usualMode()
  const queued = async (messageId: string, principal: Principal) => {
    await directory.caughtUp()
    const [found] = await directory.ask('messages', { messageId, limit: 1 })
    const row = await seenBy(directory, principal, found)
    if (!row) throw new AppError('not_found', `no message ${messageId}; sm messages lists them`)
    return row
  }

  return {
    async listAgentRuns({ project_root, session_id, limit }, { principal }) {
      const session = session_id && (await directory.find(session_id, principal))
      if (session) await mayAct(directory, principal, { sessionId: session.sessionId, isOwnAllowed: true })
      await directory.caughtUp()
      const rows = await directory.ask('runs', {
        isAgent: true,
        isNewestFirst: true,
        limit,
        ...(project_root && { workingDir: project_root }),
        ...(session && { sessionId: session.sessionId }),
        ...within(principal),
      })
      return rows.map(runRecord)
    },
    async listAgentChildren({ run_id }, { principal }) {
      await runOf(run_id, principal)
      const rows = await directory.ask('runs', {
        parentRunId: run_id,
        isAgent: true,
        limit: mostEvents,
        ...within(principal),
      })
      return rows.map(runRecord)
    },
    async getAgentContext({ run_id, ...wanted }, { principal }) {
      const row = await runOf(run_id, principal)
      const { sessionId } = row
      const { events } = await directory.events({ sessionId, runId: run_id, after: 0, limit: mostEvents })
      const said = await directory.ask('messages', { sessionId, limit: 1000 })
      return runContext(
        row,
        { events, said: new Map(said.map(({ messageId, preview }) => [messageId, preview ?? ''])) },
        wanted,
      )
    },
    async cancelAgent({ run_id }, { principal }) {
      const row = await runOf(run_id, principal)
      await mayAct(directory, principal, { sessionId: row.sessionId, isOwnAllowed: false })
      if (row.status !== 'running') return { cancelled_run_ids: [] }
      const by = askerOf(engine, principal)
      const ended = await runtime.cancel(run_id, by)
      if (ended.length > 0) return { cancelled_run_ids: [...ended] }
      const session = await directory.find(row.sessionId)
      const kind = kindOf(deps.kinds, session)
      const isTurn = row.parentRunId === null || row.parentRunId === session.parentRunId
      const below = session.origin === 'workflow' ? await runsBelow(run_id) : []
      if (!isTurn) await kind.killAgent({ row: session, run: row }, { by, reason: 'cancelled by user' })
      // The run of a workflow is all of it, and that of a CLI ends with what its program is doing.
      else if (session.origin === 'workflow') await kind.complete(session, { status: 'completed', by })
      else await kind.interrupt(session, by)
      return { cancelled_run_ids: [run_id, ...below] }
    },
    async replayRun({ id, from, model, prompt, run_tools, inexact }, { principal }) {
      const { sessionId, runId } = id.startsWith('run_')
        ? await runOf(id as RunId, principal)
        : await lastRun(id)
      const which = { sessionId, runId, isInexact: inexact }
      if (from === undefined) {
        if (model !== undefined || prompt !== undefined || run_tools)
          throw new AppError('invalid', 'say at which step to branch off: --from N')
        return replayView(await runtime.replay(which))
      }
      if (inexact)
        throw new AppError(
          'invalid',
          'a replay with --from needs the full text, and --inexact works without it; leave out --inexact',
        )
      const by = askerOf(engine, principal)
      const wish = { from, by, model, prompt, runsTools: run_tools }
      const branched = await runtime.branch(which, wish)
      return { verdict: 'branched', runs: [], session_id: shortId(branched.sessionId), step: branched.step }
    },
    async chat(input, { principal }) {
      const { text, agent, mode } = readChat(input.message)
      const state = await sessionOf(deps, input, { principal, agent: agent ?? input.agent_id })
      const { sessionId, managed } = state
      const to = agent ?? input.agent_id ?? managed?.agentType ?? ''
      const said = { session_id: sessionId, agent_id: to }
      if (mode) {
        const by = askerOf(engine, principal)
        const root = sessionRoot(state, by.name)
        if (root) await engine.perform([draftOf(askedBy(root, by), 'session.updated', { loop: mode })])
        return { status: 'mode_set', ...said, mode }
      }
      const isBusy = runtime.runs().some(({ root }) => root.sessionId === sessionId && root.actor === to)
      const isAgent = principal.kind === 'session'
      const from = isAgent ? nameOf(engine, principal) : 'user'
      const words = isAgent ? labelled(text, from) : text
      const message_id = await runtime
        .session(state.sessionId)
        .say(state, { text: words, from, by: byOf(principal), mode: input.delivery, to })
      return { status: isBusy ? 'queued' : 'started', ...said, message_id }
    },
    getSettings: async ({ project_root }) => ({ project_root, mode: modeOf(project_root) }),
    async setSettings({ project_root, mode }, { principal }) {
      const { name: actor, by } = askerOf(engine, principal)
      await engine.record([
        draftOf({ ...fleet, actor, by }, 'settings.updated', { projectRoot: project_root, mode }),
      ])
      return { project_root, mode }
    },
    async getWorkspaceTree({ project_root }, { principal }) {
      const touched = runtime.runs().flatMap((run) => {
        const isHere = engine.session(run.root.sessionId)?.managed?.workingDir === project_root
        if (!isHere || sees(directory, principal, run.root.sessionId) !== true) return []
        return Array.from(run.files, ([path, atMs]) => ({ path, atMs, agent: run.agent.name }))
      })
      return workspaceTree(project_root, touched)
    },
    async dismissMessage({ message }, { principal }) {
      const row = await queued(message, principal)
      await mayAct(directory, principal, { sessionId: row.sessionId, isOwnAllowed: false })
      const state = engine.session(row.sessionId)
      if (state?.managed?.origin !== 'runtime')
        throw new AppError('conflict', 'only messages to built-in agents can be withdrawn')
      await runtime.session(state.sessionId).dismiss(state, message, askerOf(engine, principal))
      return messageView(await queued(message, principal))
    },
    async getBlackboard({ id }, { principal }) {
      const { sessionId, origin } = await directory.find(id, principal)
      // Those who work together share one; it is kept by the workflow above them.
      const above = principal.kind === 'session' && (await directory.parentOf(principal.sessionId))
      const isShared = origin === 'workflow' && above === sessionId
      if (!isShared) await mayAct(directory, principal, { sessionId, isOwnAllowed: true })
      const type = 'blackboard.item.created,blackboard.item.updated'
      const { events } = await directory.events({ sessionId, type, after: 0, limit: mostEvents })
      return {
        items: boardItems(events, clock.now()).map(({ confidence, expiresAtMs, updatedAtMs, ...item }) => ({
          ...item,
          confidence: confidence ?? null,
          expires_at: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
          updated_at: new Date(updatedAtMs).toISOString(),
        })),
      }
    },
  }
}

type Asked = {
  readonly project_root: string
  readonly session_id?: string | undefined
  readonly mode?: LoopMode | undefined
  readonly model?: string | undefined
  readonly name?: string | undefined
}

/** The session that is spoken to: the one that is named, or a new one. */
async function sessionOf(
  { runtime, directory, engine, projects }: RuntimeHandlerDeps,
  asked: Asked,
  { principal, agent }: { readonly principal: Principal; readonly agent: string | undefined },
) {
  const known = async (word: string) => {
    const row = await directory.find(word, principal)
    await mayAct(directory, principal, { sessionId: row.sessionId, isOwnAllowed: false })
    if (row.origin !== 'runtime')
      throw new AppError(
        'conflict',
        `${row.shortId} is not a session of built-in agents; talk to it with: sm send`,
      )
    const state = engine.session(row.sessionId)
    if (!state || hasEnded(state))
      throw new AppError('conflict', `${row.shortId} has ended; leave out session_id to start a new one`)
    return state
  }
  if (asked.session_id !== undefined) return known(asked.session_id)
  await refuseOnDuty(engine, principal)
  refuseBehindWalls(engine, principal)
  const workspace = await projects.folder(asked.project_root)
  const parent = principal.kind === 'session' ? engine.session(principal.sessionId) : undefined
  const sessionId = await runtime.open({
    agent: agent ?? 'lead',
    workspace,
    by: askerOf(engine, principal),
    parent,
    loop: asked.mode ?? engine.mode(workspace),
    model: asked.model,
    name: asked.name,
  })
  const state = engine.session(sessionId)
  if (!state) throw new AppError('unavailable', 'the session could not be started; try again')
  return state
}

/** What a person typed: words for an agent, perhaps another than the usual one, or a change of mode. */
type Chat = { readonly text: string; readonly agent?: string; readonly mode?: LoopMode }

/** Reads `@agent words` and `/mode chat|auto`; everything else is words. */
function readChat(message: string): Chat {
  const command = /^\/mode(?:\s+(\S+))?\s*$/.exec(message)
  if (command) {
    const mode = LoopMode.safeParse(command[1])
    if (!mode.success) throw new AppError('invalid', 'a mode is chat or auto: /mode chat, /mode auto')
    return { text: '', mode: mode.data }
  }
  const named = /^@([A-Za-z0-9][\w-]{0,63})\s+([\s\S]+)$/.exec(message)
  return named?.[1] && named[2] ? { text: named[2], agent: named[1].toLowerCase() } : { text: message }
}
