import type { AgentCliName } from '../../contract/config/names.ts'
import { type RestartPlan, restartPlan } from '../../core/session/launch.ts'
import type { SessionState } from '../../core/session/state.ts'
import { type LaunchSpec, readSpec } from './launch-spec.ts'
import type { Parts } from './parts.ts'

/** How a session can be started again, and what with; only looks. */
export type Found = { readonly way: RestartPlan; readonly spec?: LaunchSpec }

export async function findWayBack(
  parts: Parts,
  state: Readonly<SessionState>,
  signal: AbortSignal,
): Promise<Found> {
  const { managed } = state
  const spec = await readSpec(parts, managed?.launch)
  if (!managed || !spec) return { way: none('how it was started is not known any more; see: sm spawn') }
  const cli = parts.clis[managed.cli as AgentCliName]
  const mayHaveRun = await cli.mayHaveRun({
    workingDir: managed.workingDir,
    startedAtMs: managed.startedAtMs,
    env: spec.env,
    ...(managed.foreignId && { foreignId: managed.foreignId }),
    ...(managed.transcript && { transcript: managed.transcript }),
  })
  const way = restartPlan(state, mayHaveRun)
  if (way.kind !== 'resume') return { way, spec }
  const other = await runsOutside(parts, { ...way, cli: cli.name, env: spec.env }, signal)
  return other === undefined ? { way, spec } : { way: none(elsewhere(other)), spec }
}

const none = (why: string): RestartPlan => ({ kind: 'none', why })

/** What a person is told who wants a conversation that somebody else has open. */
export const elsewhere = (pid: number): string =>
  `its conversation runs outside of Muster (pid ${pid}); quit it there, then try again`

type Sought = {
  readonly cli: AgentCliName
  readonly foreignId: string
  readonly env: Readonly<Record<string, string>>
}

/** The process outside of Muster that has a conversation open: two on one would write over each other. */
export async function runsOutside(
  parts: Pick<Parts, 'clis' | 'processes'>,
  { cli, foreignId, env }: Sought,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (const { foreignId: id, pid } of await parts.clis[cli].foreign(env, signal)) {
    if (id !== foreignId || pid === undefined) continue
    if (await parts.processes.variable(pid, 'MUSTER_SESSION')) continue
    // One of ours that is just ending tells no variables any more.
    if ((await parts.processes.startedAt(pid)) !== undefined) return pid
  }
  return undefined
}
