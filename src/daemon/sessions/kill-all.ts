import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Workflows } from '../../workflow/workflows.ts'
import type { SessionHost } from './session-host.ts'

type Deps = {
  readonly engine: Engine
  readonly host: SessionHost
  readonly runtime: Runtime
  readonly workflows: Workflows
}

const atOnce = 8
const by = 'operator'
const reason = 'sm down --sessions'
const killed = { outcome: 'killed', by, reason } as const

/** Ends every session that runs, with all that works for it; answers how many there were. */
export async function killAll(deps: Deps): Promise<number> {
  const failures: unknown[] = []
  // A workflow takes its agents along, so those are not missed by it as if they had failed.
  const flows = openOf(deps, 'workflow')
  const endFlow = unlessEnded(deps.engine, (state) => deps.workflows.end(state, killed))
  failures.push(...(await inTurn(flows, endFlow)))
  const own = openOf(deps, 'runtime')
  const endOwn = unlessEnded(deps.engine, (state) => deps.runtime.end(state, killed))
  failures.push(...(await inTurn(own, endOwn)))
  const programs = await killPrograms(deps.host)
  failures.push(...programs.failures)
  if (failures.length > 0) throw failures[0]
  return flows.length + own.length + programs.count
}

const openOf = ({ engine }: Deps, origin: 'workflow' | 'runtime'): readonly Readonly<SessionState>[] =>
  Array.from(engine.sessions()).filter(({ managed }) => managed?.origin === origin)

/** One that is below another is gone with it. */
const unlessEnded =
  (engine: Engine, end: (state: Readonly<SessionState>) => Promise<void>) =>
  async ({ sessionId }: Readonly<SessionState>): Promise<void> => {
    const state = engine.session(sessionId)
    if (state && !hasEnded(state)) await end(state)
  }

/** Children before their parents. */
async function killPrograms(host: SessionHost): Promise<{ count: number; failures: readonly unknown[] }> {
  const sessions = host.current()
  if (!sessions) return { count: 0, failures: [] }
  const depth = (live: { watch: { state(): Readonly<SessionState> | undefined } }) =>
    live.watch.state()?.depth ?? 0
  const all = [...sessions.all()].toSorted((a, b) => depth(b) - depth(a))
  const failures = await inTurn(
    all,
    async (live) => (await sessions.kill(live, { force: false, reason, by })).done,
  )
  return { count: all.length, failures }
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
