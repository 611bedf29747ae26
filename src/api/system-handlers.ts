import { flattenConfig } from '../contract/config/flatten-config.ts'
import type { LoadedConfig } from '../contract/config.ts'
import { AppError } from '../contract/errors.ts'
import type { Health, SelfReport } from '../contract/health.ts'
import type { SessionId } from '../contract/ids.ts'
import type { Principal } from '../contract/principal.ts'
import type { Api } from '../contract/routes.ts'
import type { Engine } from '../engine/engine.ts'
import type { Index } from '../ports/index.ts'
import type { JournalReader, JournalStats } from '../ports/journal.ts'
import type { Blobs } from '../ports/storage.ts'
import type { Directory } from './directory.ts'
import { type EverySession, killAll } from './kill-sessions.ts'
import { reaching } from './reaching.ts'
import { listEvents } from './read-events.ts'
import { exportSession, importSession } from './session-files.ts'
import type { SessionKinds } from './session-kinds/session-kind.ts'
import { tracePage } from './trace-pages.ts'
import { askerOf, byOf, mayAct, within } from './who-may.ts'

export type SystemDeps = EverySession & {
  readonly engine: Engine
  readonly journal: JournalReader & { stats(): JournalStats }
  readonly blobs: Pick<Blobs, 'get'>
  readonly index: Index
  readonly directory: Directory
  readonly kinds: SessionKinds
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
  | 'listTrace'
  | 'search'
  | 'exportLog'
  | 'importLog'
  | 'getConfig'
  | 'journalStats'
  | 'rebuildIndex'
  | 'createLoginLink'
  | 'shutdown'
>

/** Whoever only reaches the port is not told which process this is and where its files are. */
function healthFor({ kind }: Principal, health: Health): Health {
  if (kind !== 'anonymous') return health
  const { pid: _pid, home: _home, damage: _damage, ...open } = health
  return open
}

/** What stands behind the routes of the daemon itself: its journal and index, session files, settings, its end. */
export function systemHandlers(deps: SystemDeps): SystemApi {
  const { engine, journal, index, directory } = deps
  /** What a list is narrowed to: a session that is named and open to the caller, or all that the caller may see. */
  const among = async (word: string | undefined, principal: Principal): Promise<Scope> => {
    if (word === undefined) return within(principal)
    const { sessionId } = await directory.find(word, principal)
    await mayAct(directory, principal, { sessionId, isOwnAllowed: true })
    return { sessionId }
  }
  return reaching<keyof SystemApi>(deps, {
    health: async (_input, { principal }) => healthFor(principal, deps.health()),
    doctor: async () => deps.report(),
    listEvents: async ({ session, ...filter }, { principal }) =>
      listEvents(deps, { ...filter, ...(await among(session, principal)) }),
    async appendEvents({ events, producer, history }, { principal }) {
      if (history && principal.kind !== 'operator')
        throw new AppError('denied', 'only a person brings in history; leave out history')
      const by = byOf(principal, history ? 'import' : 'report')
      return { results: await engine.propose({ items: events, by, producer }) }
    },
    listRuns: async ({ id: _id, ...page }, { row }) => ({
      runs: await index.ask('runs', { ...page, sessionId: row.sessionId }),
    }),
    listTrace: ({ after, limit }, { row, run }) => tracePage(index, { row, run, after, limit }),
    async search({ q, session, limit }, { principal }) {
      const { sessionId, within: top } = await among(session, principal)
      const below = top === undefined ? undefined : await index.ask('subtree', top, mostSearched)
      const sessions = sessionId === undefined ? below?.map((row) => row.sessionId) : [sessionId]
      return { hits: await index.search(q, { limit, sessions }) }
    },
    exportLog: (_input, { row }) => exportSession(deps, row),
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
    shutdown: async ({ sessions }, { principal }) => {
      const ended = sessions ? await killAll(deps, askerOf(engine, principal)) : { killed: 0, suspects: [] }
      deps.onShutdown()
      return { stopping: true, ...ended }
    },
  })
}

type Scope = { readonly sessionId?: SessionId; readonly within?: SessionId }

/** A session searches in so many below it. */
const mostSearched = 1000
