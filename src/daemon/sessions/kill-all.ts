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
  // A workflow takes its agents along, so those are not missed by it as if they had failed.
  const flows = openOf(deps, 'workflow')
  await inTurn(
    flows,
    unlessEnded(deps.engine, (state) => deps.workflows.end(state, killed)),
  )
  const own = openOf(deps, 'runtime')
  await inTurn(
    own,
    unlessEnded(deps.engine, (state) => deps.runtime.end(state, killed)),
  )
  return flows.length + own.length + (await killPrograms(deps.host))
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
async function killPrograms(host: SessionHost): Promise<number> {
  const sessions = host.current()
  if (!sessions) return 0
  const depth = (live: { watch: { state(): Readonly<SessionState> | undefined } }) =>
    live.watch.state()?.depth ?? 0
  const all = [...sessions.all()].toSorted((a, b) => depth(b) - depth(a))
  await inTurn(all, async (live) => (await sessions.kill(live, { force: false, reason, by })).done)
  return all.length
}

async function inTurn<T>(all: readonly T[], end: (one: T) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < all.length; i += atOnce) await Promise.all(all.slice(i, i + atOnce).map(end))
}
