import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Directory } from '../src/api/directory.ts'
import { runtimeHandlers } from '../src/api/runtime-handlers.ts'
import { sessionHandlers } from '../src/api/session-handlers.ts'
import { type RunId, type SessionId, shortId } from '../src/contract/ids.ts'
import { type CallContext, type Principal } from '../src/contract/principal.ts'
import type { IndexQueries } from '../src/ports/index.ts'
import { manualClock } from './http/manual-clock.ts'
import { expectSameAgents, type Views } from './support/agents-everywhere.ts'
import { EventStream, runIdOf, sessionIdOf, spanIdOf } from './support/events.ts'
import { runs } from './support/size.ts'
import { TempIndex } from './support/temp-index.ts'

/** What the handlers answer of these rows, while nothing is in memory. */
function viewsOn(queries: IndexQueries): Views & { readonly open: Views['all'] } {
  const ask = async (method: keyof IndexQueries, ...args: unknown[]) =>
    (queries[method] as (...given: unknown[]) => unknown).call(queries, ...args)
  const engine = { session: () => undefined, sessions: () => [], known: async () => undefined }
  const observer = { wanted: async () => {}, get: () => undefined, judgeOptions: () => ({ now: 0 }) }
  const journal = { watermark: () => 0 }
  const index = { ask, reached: async () => true }
  const shared = { engine, clock: manualClock(), observer, host: { current: () => undefined }, kinds: {} }
  const directory = new Directory({ ...shared, journal, index, sessions: () => undefined } as never)
  const sessions = sessionHandlers({ ...shared, directory } as never)
  const runtime = runtimeHandlers({ ...shared, directory } as never)
  const principal: Principal = { kind: 'operator', channel: 'api' }
  const context = { principal, signal: new AbortController().signal } as CallContext
  const limit = 1000
  return {
    children: async (id) => (await sessions.listChildren({ id, recursive: true }, context)).children,
    all: async () => (await sessions.listSessions({ agents: true, limit }, context)).sessions,
    open: async () => (await sessions.listSessions({ agents: true, open: true, limit }, context)).sessions,
    runs: () => runtime.listAgentRuns({ limit }, context),
    below: (run_id) => runtime.listAgentChildren({ run_id: run_id as RunId }, context),
  }
}

type Run = { readonly runId: RunId; readonly sessionId: SessionId; readonly n: number; isOpen: boolean }
type Session = {
  readonly sessionId: SessionId
  readonly kind: 'program' | 'built-in' | 'workflow'
  /** What its turns work for. */
  readonly parentRunId?: RunId
  readonly runs: Run[]
}

const step = fc.record({
  does: fc.constantFrom('session', 'spawn', 'workflow', 'member', 'turn', 'delegate', 'delegate', 'end'),
  pick: fc.nat(1000),
})

/** A collaboration as the daemon writes it down: sessions and their turns, workflows, and all that work for another. */
function collaboration(steps: readonly { does: string; pick: number }[]) {
  const stream = new EventStream()
  const sessions: Session[] = []
  let n = 0
  const choose = <T>(from: readonly T[], pick: number): T | undefined => from[pick % Math.max(1, from.length)]
  const began = (session: Session, parent: Session | undefined): Session => {
    n += 1
    const { sessionId, parentRunId, kind } = session
    const origin = ({ program: 'managed', 'built-in': 'runtime', workflow: 'workflow' } as const)[kind]
    stream.add(
      'session.started',
      { origin, name: `${kind}-${n}`, ...(parent && { parentSessionId: parent.sessionId }) },
      { sessionId, runId: runIdOf(n), spanId: spanIdOf(n), ...(parentRunId && { parentRunId }) },
    )
    sessions.push(session)
    if (kind === 'workflow') spawned(session, { runId: runIdOf(n) })
    return session
  }
  const spawned = (
    session: Session,
    { parentRunId, runId }: { parentRunId?: RunId | undefined; runId?: RunId } = {},
  ) => {
    n += 1
    const run = { runId: runId ?? runIdOf(n), sessionId: session.sessionId, n, isOpen: true }
    stream.add(
      'agent.spawned',
      { agentId: `agent-${n}`, agentType: 'worker', kind: parentRunId ? 'subagent' : 'main' },
      { ...placeOf(run), ...(parentRunId && { parentRunId }) },
    )
    session.runs.push(run)
  }
  const placeOf = ({ runId, sessionId, n: span }: Run) => ({ runId, sessionId, spanId: spanIdOf(span) })
  const newSession = (kind: Session['kind'], parentRunId?: RunId): Session => ({
    sessionId: sessionIdOf(sessions.length + 1),
    kind,
    runs: [],
    ...(parentRunId && { parentRunId }),
  })
  began(newSession('built-in'), undefined)
  for (const { does, pick } of steps) {
    const some = choose(sessions, pick) as Session
    const kind = pick % 2 === 0 ? 'program' : 'built-in'
    const run = choose(some.runs, pick)
    const root = some.kind === 'workflow' ? some.runs[0]?.runId : undefined
    if (does === 'session') began(newSession(kind), undefined)
    if (does === 'spawn') began(newSession(kind), some)
    if (does === 'workflow') began(newSession('workflow'), pick % 3 === 0 ? undefined : some)
    if (does === 'member' && root) began(newSession('program', root), some)
    if (does === 'turn' && some.kind !== 'workflow') spawned(some, { parentRunId: some.parentRunId })
    if (does === 'delegate' && run) spawned(some, { parentRunId: run.runId })
    if (does === 'end' && run?.isOpen) {
      run.isOpen = false
      stream.add('agent.completed', { agentId: `agent-${run.n}` }, placeOf(run))
    }
  }
  // Whoever never began anything is in no list of runs.
  for (const one of sessions) if (one.runs.length === 0) spawned(one, { parentRunId: one.parentRunId })
  return { events: stream.events, sessions }
}

test('[MUS-370][MUS-371] whatever works for whom: every parent run exists, and the four views name the same agents', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { events, sessions } = collaboration(steps)
      using place = new TempIndex()
      using queries = place.queries(events)
      const views = viewsOn(queries)
      const inside = new Set<string>()
      for (const { sessionId } of sessions) {
        const { agents } = await expectSameAgents(views, { id: sessionId, session_id: shortId(sessionId) })
        for (const id of agents) inside.add(id)
      }
      const working = sessions.flatMap((session) => session.runs.filter((run) => run.isOpen))
      const shown = (await views.open()).filter(({ origin }) => origin === 'agent')
      expect(shown.map(({ id }) => id).toSorted()).toEqual(
        working.flatMap(({ runId }) => (inside.has(runId) ? [runId] : [])).toSorted(),
      )
    }),
    runs(200),
  )
})
