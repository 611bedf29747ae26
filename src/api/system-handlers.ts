import { flattenConfig } from '../contract/config/flatten-config.ts'
import type { LoadedConfig } from '../contract/config.ts'
import type { Health, SelfReport } from '../contract/health.ts'
import type { Api } from '../contract/routes.ts'
import type { Engine } from '../engine/engine.ts'
import type { Index } from '../ports/index.ts'
import type { JournalReader, JournalStats } from '../ports/journal.ts'
import type { Blobs } from '../ports/storage.ts'
import { type Directory, findSession } from './directory.ts'
import { type EverySession, killAll } from './kill-sessions.ts'
import { listEvents } from './read-events.ts'
import { exportSession, importSession } from './session-files.ts'

export type SystemDeps = EverySession & {
  readonly engine: Engine
  readonly journal: JournalReader & { stats(): JournalStats }
  readonly blobs: Pick<Blobs, 'get'>
  readonly index: Index
  readonly directory: Directory
  readonly loaded: LoadedConfig
  readonly health: () => Health
  readonly report: () => SelfReport
  /** An address that logs a browser in, once. */
  readonly loginLink: () => string
  readonly onShutdown: () => void
}

type SystemApi = Pick<
  Api,
  | 'health'
  | 'doctor'
  | 'listEvents'
  | 'appendEvents'
  | 'listRuns'
  | 'listSpans'
  | 'search'
  | 'exportLog'
  | 'importLog'
  | 'getConfig'
  | 'journalStats'
  | 'rebuildIndex'
  | 'createLoginLink'
  | 'shutdown'
>

/** What stands behind the routes of the daemon itself: its journal and index, session files, settings, its end. */
export function systemHandlers(deps: SystemDeps): SystemApi {
  const { engine, journal, index } = deps
  const idOf = async (word: string) => (await findSession(index, word)).sessionId
  return {
    health: async () => deps.health(),
    doctor: async () => deps.report(),
    listEvents: async ({ session, ...filter }) =>
      listEvents(deps, { ...filter, sessionId: session === undefined ? undefined : await idOf(session) }),
    appendEvents: async ({ events, producer }, { principal }) => ({
      results: await engine.propose({ items: events, principal, producer }),
    }),
    listRuns: async ({ id, ...page }) => ({
      runs: await index.ask('runs', { ...page, sessionId: await idOf(id) }),
    }),
    listSpans: async ({ id, ...page }) => ({
      spans: await index.ask('spans', { ...page, sessionId: await idOf(id) }),
    }),
    search: async ({ q, session, limit }) => ({
      hits: await index.search(q, {
        limit,
        ...(session !== undefined && { sessionId: await idOf(session) }),
      }),
    }),
    exportLog: async ({ id }) => {
      await deps.directory.caughtUp()
      return exportSession(deps, await findSession(index, id))
    },
    importLog: (input, { principal }) => importSession(deps, input, principal),
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
      index.rebuild()
      await index.reached(seq, signal)
      return { seq }
    },
    createLoginLink: async () => ({ url: deps.loginLink() }),
    shutdown: async ({ sessions }) => {
      const killed = sessions ? await killAll(deps) : 0
      deps.onShutdown()
      return { stopping: true, killed }
    },
  }
}
