import { AppError } from '../contract/errors.ts'
import type { RunRow, SessionRow } from '../contract/index-rows.ts'
import type { Principal } from '../contract/principal.ts'
import type { SessionView } from '../contract/session-views.ts'
import { agentName, agentView } from '../core/session/agent-view.ts'
import type { Directory } from './directory.ts'
import { titleOf } from './session-kinds/session-kind.ts'
import { sees } from './who-may.ts'

/** An agent that works inside of a session, as a run of it. */
export type AgentInside = { readonly row: SessionRow; readonly run: RunRow }

/** The most that a list shows of one session; who started more sees the newest. */
const mostAgents = 5000
const mostCandidates = 10
/** A bound on the walk up, because a chain of parents is data and data can hold a circle. */
const deepest = 64

/** The agent that a word names, of those in sessions that the caller sees; refused when it can mean several. */
export async function findAgent(
  directory: Directory,
  word: string,
  principal: Principal,
): Promise<AgentInside | undefined> {
  const found: AgentInside[] = []
  for (const run of await directory.ask('findAgents', word, mostCandidates)) {
    const [row] = await directory.ask('findSessions', run.sessionId, 1)
    if (row && (await sees(directory, principal, row.sessionId))) found.push({ row, run })
  }
  if (found.length > 1)
    throw new AppError(
      'conflict',
      `"${word}" can mean ${found.length} agents: ${found.map(candidate).join(', ')}; name one of them by its id`,
    )
  return found[0]
}

const candidate = ({ row, run }: AgentInside): string =>
  `${run.shortId} (${agentName(run, row)} in ${titleOf(row)}, ${run.ending ?? 'running'})`

/** Why a command cannot be about an agent, and what it can be about. */
export const onlySession = ({ row, run }: AgentInside): AppError =>
  new AppError(
    'conflict',
    `${agentName(run, row)} (${run.shortId}) is an agent inside of ${titleOf(row)}: it has no terminal and takes no messages of its own. Name that session: ${row.shortId}`,
  )

/** The agents inside of these sessions, each below whoever gave it its work. */
export async function agentsIn(
  directory: Directory,
  rows: readonly SessionRow[],
  { isOpen }: { readonly isOpen?: boolean } = {},
): Promise<SessionView[]> {
  const counts = await directory.ask(
    'agentCounts',
    rows.map(({ sessionId }) => sessionId),
  )
  const busy = new Set(
    counts.flatMap(({ sessionId, running }) => (running > 0 || !isOpen ? [sessionId] : [])),
  )
  const views: SessionView[] = []
  for (const row of rows)
    if (busy.has(row.sessionId))
      views.push(...(await inside(directory, row, { isOpen })).map(({ view }) => view))
  return views
}

type Inside = { readonly run: RunRow; readonly view: SessionView }

/** Whoever gives work comes before whoever gets it. */
async function inside(
  directory: Directory,
  row: SessionRow,
  { isOpen }: { readonly isOpen?: boolean | undefined } = {},
): Promise<Inside[]> {
  const filter = { sessionId: row.sessionId, isInside: true, isNewestFirst: true, limit: mostAgents } as const
  const runs = await directory.ask('runs', { ...filter, ...(isOpen && { isOpen }) })
  const known = new Map(runs.map((run) => [run.runId, run]))
  return runs.toReversed().map((run) => ({ run, view: shown(directory, { row, run }, aboveOf(run, known)) }))
}

/** The agents that an agent works for, the nearest first. */
function aboveOf(run: RunRow, known: ReadonlyMap<string, RunRow>): readonly RunRow[] {
  const above: RunRow[] = []
  for (let at = known.get(run.parentRunId ?? ''); at && above.length < deepest; ) {
    above.push(at)
    at = known.get(at.parentRunId ?? '')
  }
  return above
}

const shown = (
  directory: Directory,
  { row, run }: AgentInside,
  above: readonly Pick<RunRow, 'shortId'>[],
): SessionView =>
  agentView(run, {
    session: row,
    parent: (above[0] ?? row).shortId,
    depth: (row.depth ?? 0) + above.length + 1,
    asks: directory.asksOf(run),
  })

/** One agent, as it is shown. */
export async function viewOfAgent(directory: Directory, agent: AgentInside): Promise<SessionView> {
  const above: RunRow[] = []
  for (let id = agent.run.parentRunId; id !== null && above.length < deepest; ) {
    const [run] = await directory.ask('runs', { runId: id, isInside: true, limit: 1 })
    if (!run) break
    above.push(run)
    id = run.parentRunId
  }
  return shown(directory, agent, above)
}

/** The agents that work for one, or also those that work for them. */
export async function agentsBelow(
  directory: Directory,
  { row, run }: AgentInside,
  { isRecursive }: { readonly isRecursive: boolean },
): Promise<SessionView[]> {
  const above = new Set<string>([run.runId])
  const found: SessionView[] = []
  for (const one of await inside(directory, row)) {
    if (!above.has(one.run.parentRunId ?? '')) continue
    if (isRecursive) above.add(one.run.runId)
    found.push(one.view)
  }
  return found
}
