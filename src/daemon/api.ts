import type { Journal } from '../adapters/jsonl/journal.ts'
import { flattenConfig } from '../contract/config/flatten-config.ts'
import type { LoadedConfig } from '../contract/config.ts'
import type { Health, SelfReport } from '../contract/health.ts'
import type { Api } from '../contract/routes.ts'
import { findAgent, findCrew } from '../core/definitions/find-definition.ts'
import type { AgentDefinitions, AgentProject } from '../ports/agent-definitions.ts'
import type { Branches } from '../ports/branches.ts'
import type { CrewDefinitions } from '../ports/crew-definitions.ts'
import type { Models } from '../ports/models.ts'
import type { Scripts } from '../ports/scripts.ts'
import type { Workflows } from '../workflow/workflows.ts'
import { agentType } from './agent-type.ts'
import type { Authority } from './authority.ts'
import { findSession } from './find-session.ts'
import type { IndexClient } from './index-client.ts'
import type { IndexThread } from './index-thread.ts'
import { listEvents } from './list-events.ts'
import { knownClis, loadCrews } from './load-crews.ts'
import { modelsView } from './models-view.ts'
import { runtimeApi } from './runtime/runtime-api.ts'
import { exportSession, importSession } from './session-files.ts'
import { killAll } from './sessions/kill-all.ts'
import { type SessionApiDeps, sessionApi } from './sessions/session-api.ts'
import type { CollaborationFiles } from './workflows/collaboration-files.ts'
import { workflowApi } from './workflows/workflow-api.ts'

export type ApiDeps = SessionApiDeps & {
  readonly journal: Journal
  readonly index: IndexClient
  readonly thread: IndexThread
  readonly authority: Authority
  readonly agents: AgentDefinitions
  readonly crews: CrewDefinitions
  readonly workflows: Workflows
  readonly branches: Branches
  readonly scripts: Scripts
  readonly collaborations: CollaborationFiles
  readonly agentProject: AgentProject | undefined
  readonly loaded: LoadedConfig
  readonly models: Models
  readonly health: () => Health
  readonly report: () => SelfReport
  readonly url: () => string
  readonly onShutdown: () => void
}

/** What stands behind the routes; each answer is a view, and only the engine writes. */
export function daemonApi(deps: ApiDeps): Api {
  const { engine, journal, index } = deps
  const idOf = async (word: string | undefined) =>
    word === undefined ? undefined : (await findSession(index, word)).sessionId
  const agents = async (signal: AbortSignal) => (await deps.agents.load(deps.agentProject, signal)).agents
  const crews = (signal: AbortSignal) =>
    loadCrews({ ...deps, clis: deps.loaded.config.clis }, deps.agentProject, signal)
  return {
    health: async () => deps.health(),
    doctor: async () => deps.report(),
    listEvents: async ({ session, ...filter }) =>
      listEvents(deps, { ...filter, sessionId: await idOf(session) }),
    appendEvents: async ({ events, producer }, { principal }) => ({
      results: await engine.propose({ items: events, principal, producer }),
    }),
    ...sessionApi(deps),
    ...workflowApi({
      ...deps,
      files: deps.collaborations,
      clis: () => knownClis(deps.loaded.config.clis),
      crewsOf: (root, signal) =>
        loadCrews({ ...deps, clis: deps.loaded.config.clis }, { root, trusted: false }, signal),
    }),
    ...runtimeApi({ ...deps, usualMode: () => deps.loaded.config.runtime.mode }),
    listRuns: async ({ id, ...page }) => ({
      runs: await index.ask('runs', { ...page, sessionId: (await findSession(index, id)).sessionId }),
    }),
    listSpans: async ({ id, ...page }) => ({
      spans: await index.ask('spans', { ...page, sessionId: (await findSession(index, id)).sessionId }),
    }),
    search: async ({ q, session, limit }) => {
      const sessionId = await idOf(session)
      return { hits: await index.search(q, { limit, ...(sessionId && { sessionId }) }) }
    },
    exportLog: async ({ id }) => {
      await deps.directory.caughtUp()
      return exportSession(deps, await findSession(index, id))
    },
    importLog: (input, { principal }) => importSession(deps, input, principal),
    listAgents: async (_input, { signal }) => ({ agents: await agents(signal) }),
    getAgent: async ({ name }, { signal }) => findAgent(await agents(signal), name),
    listCrews: async (_input, { signal }) => ({ crews: (await crews(signal)).crews }),
    getCrew: async ({ name }, { signal }) => findCrew(await crews(signal), name),
    listModels: async (_input, { signal }) =>
      modelsView(deps.loaded.config.models, await deps.models.list(signal)),
    listAgentTypes: async (_input, { signal }) => (await agents(signal)).map(agentType),
    getConfig: async () =>
      flattenConfig(deps.loaded.config).map(({ key, value }) => ({
        key,
        value,
        origin: deps.loaded.origins[key] ?? 'default',
      })),
    journalStats: async () => {
      const { pending: _pending, ...stats } = journal.stats()
      return {
        ...stats,
        oldestSeq: journal.oldest(),
        seq: journal.watermark(),
        openSessions: engine.openSessions(),
        producers: engine.producers(),
      }
    },
    rebuildIndex: async (_input, { signal }) => {
      const seq = journal.watermark()
      deps.thread.rebuild()
      await deps.thread.reached(seq, signal)
      return { seq }
    },
    createLoginLink: async () => ({ url: `${deps.url()}/login?code=${deps.authority.loginCode()}` }),
    shutdown: async ({ sessions }) => {
      const killed = sessions ? await killAll(deps) : 0
      deps.onShutdown()
      return { stopping: true, killed }
    },
  }
}
