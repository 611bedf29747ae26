import { AppError } from '../contract/errors.ts'
import type { SessionId } from '../contract/ids.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { Asker } from '../contract/principal.ts'
import type { RouteOutput } from '../contract/routes.ts'
import type { SessionView, UnsavedView } from '../contract/session-views.ts'
import { hasEnded, type SessionState } from '../core/session/state.ts'
import type { Engine } from '../engine/engine.ts'
import type { Parts } from '../engine/sessions/session-parts.ts'
import type { Sessions } from '../engine/sessions/sessions.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Workflows } from '../workflow/workflows.ts'
import type { Directory } from './directory.ts'
import type { SessionHost } from './session-host.ts'
import { suspectsOf } from './suspects.ts'

type How = Parameters<Sessions['ends']['kill']>[1]

type Deps = { readonly directory: Directory; readonly sessions: Sessions; readonly parts: Parts }

/** Ends a session and all below it, deepest first, also those that are started meanwhile and what was left of others. */
export async function killTree(
  { directory, sessions, parts }: Deps,
  row: SessionRow,
  how: How,
): Promise<RouteOutput<'killSession'>> {
  const ending = new Map<SessionId, Promise<readonly number[]>>()
  // Ends are written one by one, the deepest first; programs get their grace all at the same time.
  const end = async ({ sessionId }: SessionRow): Promise<boolean> => {
    if (ending.has(sessionId)) return false
    const live = await sessions.settled(sessionId)
    if (live) ending.set(sessionId, (await sessions.ends.kill(live, how)).done)
    return live !== undefined
  }
  const endBelow = async (): Promise<boolean> => {
    let hadAny = false
    for (const each of (await directory.below(row, true)).toReversed()) hadAny = (await end(each)) || hadAny
    return hadAny
  }
  await endBelow()
  await end(row)
  // One that was just being started may have begun another; once its end is written it cannot any more.
  while (await endBelow());
  const left = (await Promise.all(ending.values())).flat()
  const family = new Set([row, ...(await directory.below(row, true))].map(({ sessionId }) => sessionId))
  const cleared = await sessions.clear((id) => family.has(id))
  if (ending.size === 0 && cleared.length === 0)
    throw new AppError(
      'conflict',
      `${row.name ?? row.shortId} has no running program; it is ${row.lifecycle}`,
    )
  const views = await Promise.all(Array.from(ending.keys(), (id) => directory.find(id)))
  // What is ending now could start others until this moment.
  const endedMs = async (id: SessionId) => (ending.has(id) ? null : (await directory.find(id)).endedMs)
  const suspects = await suspectsIn(parts, endedMs, (id) => family.has(id))
  return { killed: await directory.views(views), left, suspects }
}

type Suspects = RouteOutput<'killSession'>['suspects']

/** What may be left of sessions that were just ended. Not under a caller's signal, like the end itself. */
async function suspectsIn(
  { engine, processes, surroundings }: Parts,
  endedMs: (id: SessionId) => Promise<number | null>,
  isWanted: (id: SessionId) => boolean,
): Promise<Suspects> {
  const never = new AbortController().signal
  const deps = { engine, processes, home: surroundings.home, endedMs }
  const found = await suspectsOf(deps, isWanted, never)
  return found.map(({ stray: { pid, command } }) => ({ pid, command }))
}

/** What runs sessions, of every kind. */
export type EverySession = {
  readonly engine: Engine
  readonly host: SessionHost
  readonly runtime: Runtime
  readonly workflows: Workflows
}

const atOnce = 8
const reason = 'sm down --sessions'

/** Ends every session that runs, with all that works for it; answers how many there were, and what may be left. */
export async function killAll(
  deps: EverySession,
  by: Asker,
): Promise<{ readonly killed: number; readonly suspects: Suspects }> {
  const failures: unknown[] = []
  const killed = { outcome: 'killed', by, reason } as const
  // A workflow takes its agents along, so those are not missed by it as if they had failed.
  const flows = openOf(deps, 'workflow')
  const endFlow = unlessEnded(deps.engine, (state) => deps.workflows.end(state, killed))
  failures.push(...(await inTurn(flows, endFlow)))
  const own = openOf(deps, 'runtime')
  const endOwn = unlessEnded(deps.engine, (state) => deps.runtime.end(state, killed))
  failures.push(...(await inTurn(own, endOwn)))
  const programs = await killPrograms(deps.host, by)
  failures.push(...programs.failures)
  if (failures.length > 0) throw failures[0]
  const { count, suspects } = programs
  return { killed: flows.length + own.length + count, suspects }
}

const openOf = (
  { engine }: EverySession,
  origin: 'workflow' | 'runtime',
): readonly Readonly<SessionState>[] =>
  Array.from(engine.sessions()).filter(({ managed }) => managed?.origin === origin)

/** One that is below another is gone with it. */
const unlessEnded =
  (engine: Engine, end: (state: Readonly<SessionState>) => Promise<void>) =>
  async ({ sessionId }: Readonly<SessionState>): Promise<void> => {
    const state = engine.session(sessionId)
    if (state && !hasEnded(state)) await end(state)
  }

/** Children before their parents. */
async function killPrograms(
  host: SessionHost,
  by: Asker,
): Promise<{ count: number; suspects: Suspects; failures: readonly unknown[] }> {
  // Opened for it when it was not: what ended before this daemon started may have left a terminal. Where no terminals
  // can be had, there are none.
  const opened = await host.open().catch((error: unknown) => {
    if (error instanceof AppError) return undefined
    throw error
  })
  if (!opened) return { count: 0, suspects: [], failures: [] }
  const { sessions, parts } = opened
  const depth = (live: { watch: { state(): Readonly<SessionState> | undefined } }) =>
    live.watch.state()?.depth ?? 0
  const all = [...sessions.all()].toSorted((a, b) => depth(b) - depth(a))
  const failures = await inTurn(
    all,
    async (live) => (await sessions.ends.kill(live, { force: false, reason, by })).done,
  )
  await sessions.clear(() => true)
  const ended = new Set(all.map(({ watch }) => watch.id))
  const suspects = await suspectsIn(
    parts,
    async () => null,
    (id) => ended.has(id),
  )
  return { count: all.length, suspects, failures }
}

/** All are ended, also after one that could not be; answers what went wrong. */
async function inTurn<T>(all: readonly T[], end: (one: T) => Promise<unknown>): Promise<readonly unknown[]> {
  const failures: unknown[] = []
  for (let i = 0; i < all.length; i += atOnce) {
    const ended = await Promise.allSettled(all.slice(i, i + atOnce).map(end))
    failures.push(...ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])))
  }
  return failures
}

const named = 3

/** What ending a session would cut off or leave lying about, in words for whoever is about to do it. */
export async function unsavedOf(
  parts: Parts,
  session: SessionView,
  signal: AbortSignal,
): Promise<UnsavedView> {
  const { status, waiting_for, queued_messages, pending_approvals, working_dir } = session
  // Git runs what a repository tells it to, and behind walls the agent may have told it anything.
  const isIsolated = parts.engine.session(session.id as SessionId)?.managed?.isolation !== undefined
  const isOpen = status === 'running' || status === 'waiting_input'
  const unsaved = [
    ...(isOpen
      ? [`an open turn (${status === 'running' ? (session.activity ?? 'running') : 'waiting for an answer'})`]
      : []),
    ...(waiting_for === 'background' ? ['background work'] : []),
    ...(queued_messages > 0 ? [`${some(queued_messages, 'message')} not delivered yet`] : []),
    ...(pending_approvals > 0 ? [`${some(pending_approvals, 'question')} not answered yet`] : []),
    ...(working_dir === null || isIsolated ? [] : await gitLines(parts, working_dir, signal)),
  ]
  return { session, unsaved }
}

/** The same of an agent inside of a session: nothing but its work is cut off. */
export const unsavedOfAgent = (session: SessionView): UnsavedView => ({
  session,
  unsaved: session.completed_at === null ? ['work that it has not finished'] : [],
})

async function gitLines(parts: Parts, folder: string, signal: AbortSignal): Promise<string[]> {
  const found = await parts.workspace.unsaved(folder, signal).catch((error: unknown) => {
    // Without git, or in a folder that is gone, there is nothing to say of it.
    if (error instanceof AppError) return undefined
    throw error
  })
  if (!found) return []
  const { changed, unpushed, branch, root } = found
  const first = changed.slice(0, named).join(', ')
  const more = changed.length > named ? ', …' : ''
  return [
    ...(changed.length > 0
      ? [`${some(changed.length, 'uncommitted file')} in ${root} (${first}${more})`]
      : []),
    ...(unpushed > 0 ? [`${some(unpushed, 'commit')} on ${branch ?? 'HEAD'} not pushed`] : []),
  ]
}

const some = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
