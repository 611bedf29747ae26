import { expect } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { RunId } from '../../src/contract/ids.ts'
import type { AgentRunRecord } from '../../src/contract/runtime-routes.ts'
import type { SessionView } from '../../src/contract/session-views.ts'

type Shown = Pick<SessionView, 'session_id' | 'parent_session_id' | 'origin'> & { readonly id: string }
type Run = Omit<AgentRunRecord, 'run_id' | 'parent_run_id'> & {
  readonly run_id: string
  readonly parent_run_id?: string | undefined
}

/** What the four views of agents are asked with. */
export type Views = {
  children(id: string): Promise<readonly Shown[]>
  all(): Promise<readonly Shown[]>
  runs(): Promise<readonly Run[]>
  below(runId: string): Promise<readonly Run[]>
}

export const viewsOf = (client: Client): Views => ({
  children: async (id) => (await client.listChildren({ id, recursive: true }, {})).children,
  all: async () => (await client.listSessions({ agents: true, limit: 1000 }, {})).sessions,
  runs: () => client.listAgentRuns({ limit: 1000 }, {}),
  below: (run_id) => client.listAgentChildren({ run_id: run_id as RunId }, {}),
})

/**
 * Expects that every run has a parent that exists, and that the views name the same agents below a session. Answers
 * their ids, and how many of them no run was delegated to: sessions that were spawned.
 */
export async function expectSameAgents(
  views: Views,
  session: Pick<Shown, 'id' | 'session_id'>,
): Promise<{ readonly agents: readonly string[]; readonly delegated: readonly string[] }> {
  const runs = new Map((await views.runs()).map((run) => [run.run_id, run]))
  for (const { run_id, parent_run_id } of runs.values())
    if (parent_run_id !== undefined) expect(runs.has(parent_run_id), `the parent of ${run_id}`).toBe(true)

  const children = await views.children(session.id)
  const inTree = sorted(children.map(({ id }) => id))
  const byShort = new Set([session, ...children].map((view) => view.session_id))
  expect(byShort.size).toBe(children.length + 1)
  for (const { session_id, parent_session_id } of children)
    expect(byShort.has(parent_session_id ?? ''), `the parent of ${session_id}`).toBe(true)

  expect(below(await views.all(), session)).toEqual(inTree)

  // A run that works for one of another session is a turn of its session, and so is one that works for nobody.
  const nodeOf = (run: Run): string => {
    const parent = runs.get(run.parent_run_id ?? '')
    return parent?.session_id === run.session_id ? run.run_id : run.session_id
  }
  const sessions = new Set([session.id, ...inTree])
  const own = [...runs.values()].filter(({ session_id }) => sessions.has(session_id))
  expect(sorted(new Set(own.map(nodeOf).filter((id) => id !== session.id)))).toEqual(inTree)

  const delegated = new Set<string>()
  const walk = async (run: Run): Promise<void> => {
    for (const child of await views.below(run.run_id)) {
      expect(child.parent_run_id).toBe(run.run_id)
      expect(runs.get(child.run_id)).toEqual(child)
      delegated.add(nodeOf(child))
      await walk(child)
    }
  }
  // A member of a crew works for a run above it: from here its turns are the first.
  const known = new Set(own.map(({ run_id }) => run_id))
  for (const run of own)
    if (nodeOf(run) === run.session_id && !known.has(run.parent_run_id ?? '')) await walk(run)
  const spawned = children.filter(({ id }) => !delegated.has(id))
  expect(spawned.filter(({ origin }) => origin === 'agent')).toEqual([])
  for (const id of delegated) expect(inTree).toContain(id)
  return { agents: inTree, delegated: sorted(delegated) }
}

function below(all: readonly Shown[], { session_id }: Pick<Shown, 'session_id'>): string[] {
  const known = new Set([session_id])
  for (let size = 0; size !== known.size; ) {
    size = known.size
    for (const view of all) if (known.has(view.parent_session_id ?? '')) known.add(view.session_id)
  }
  return sorted(
    all.filter((view) => known.has(view.session_id) && view.session_id !== session_id).map(({ id }) => id),
  )
}

const sorted = (ids: Iterable<string>): string[] => [...ids].toSorted()
