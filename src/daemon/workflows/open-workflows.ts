import { readdir } from 'node:fs/promises'
import { gitBranches } from '../../adapters/git/branches.ts'
import { nodeScripts } from '../../adapters/scripts/node-scripts.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import { systemIds } from '../../adapters/system/ids.ts'
import { systemProcesses } from '../../adapters/system/processes.ts'
import { shellChecks } from '../../adapters/tools/shell-checks.ts'
import type { Config } from '../../contract/config.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { WorkflowRow } from '../../contract/index-rows.ts'
import { BlobRef } from '../../contract/values.ts'
import type { EarlierCrews } from '../../core/collaboration/crew-effort.ts'
import { matchesGlob } from '../../core/delegation/globs.ts'
import type { Budgets } from '../../engine/budgets.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Sessions } from '../../engine/sessions/sessions.ts'
import type { Blobs } from '../../ports/blobs.ts'
import type { Branches } from '../../ports/branches.ts'
import type { Procedure } from '../../ports/durable.ts'
import type { Scripts } from '../../ports/scripts.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Workers } from '../../ports/workers.ts'
import { CliWorker } from '../../workflow/cli-worker.ts'
import { crewProcedure } from '../../workflow/crew/crew-procedure.ts'
import { landProcedure } from '../../workflow/crew/land.ts'
import { FactWaits } from '../../workflow/fact-waits.ts'
import type { FlowRecord } from '../../workflow/local/local-durable.ts'
import { scriptProcedure } from '../../workflow/script/script-procedure.ts'
import { Workflows } from '../../workflow/workflows.ts'
import type { IndexClient } from '../index-client.ts'

type Events = (sessionId: SessionId, types: readonly AgentEvent['type'][]) => AsyncIterable<AgentEvent>

export type WorkflowOptions = {
  readonly engine: Engine
  readonly vault: Vault
  readonly limits: () => Config['limits']
  readonly budgets: Budgets
  readonly blobs: Pick<Blobs, 'get'>
  readonly index: IndexClient
  readonly caughtUp: () => Promise<void>
  readonly events: Events
  readonly sessions: () => Promise<Sessions>
  readonly own: Workers
  readonly worktrees: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly onBug: (error: unknown, where: string) => void
}

/** Workflows, what tells them of others, and git as they use it. */
export type OpenedWorkflows = {
  readonly workflows: Workflows
  readonly waits: FactWaits
  readonly branches: Branches
  readonly scripts: Scripts
}

/** Builds what workflows are run with. */
export function openWorkflows(options: WorkflowOptions): OpenedWorkflows {
  const { engine, vault, index, caughtUp, events, onBug } = options
  const processes = systemProcesses(systemClock)
  const branches = gitBranches({ processes, clock: systemClock })
  const waits = new FactWaits()
  const cli = new CliWorker({
    engine,
    clock: systemClock,
    waits,
    sessions: options.sessions,
    events,
    async text(body) {
      if (typeof body === 'string') return body
      const ref = BlobRef.safeParse(body)
      return ref.success ? options.blobs.get(ref.data, new AbortController().signal) : ''
    },
    async tokens(sessionId) {
      await caughtUp()
      const [sum] = await index.ask('usage', { sessionId, isSubtree: true })
      return sum?.tokens ?? 0
    },
  })
  const workers: Workers = {
    run: (work, signal) => (work.cli === 'own' ? options.own : cli).run(work, signal),
  }
  const parts = {
    engine,
    clock: systemClock,
    workers,
    budgets: options.budgets,
    branches,
    checks: shellChecks({ env: options.env, processes, matchesGlob }),
    events,
    worktrees: options.worktrees,
    treeNames: () => readdir(options.worktrees).catch(() => []),
    async earlier() {
      await caughtUp()
      return earlierCrews(await index.ask('workflows', { limit: 500 }))
    },
    onBug,
  }
  const scripts = nodeScripts({ processes, path: options.env['PATH'] ?? '' })
  const workflows = new Workflows({
    engine,
    vault,
    clock: systemClock,
    ids: systemIds(systemClock),
    limits: options.limits,
    procedures: [
      crewProcedure(parts),
      landProcedure(parts),
      scriptProcedure({ ...parts, scripts }),
    ] as readonly Procedure<never, unknown>[],
    events,
    async records(id) {
      await caughtUp()
      const rows = await index.ask('workflows', { limit: 500, ...(id !== undefined && { workflowId: id }) })
      return rows.map(recordOf)
    },
    onBug,
  })
  return { workflows, waits, branches, scripts }
}

/** The last that came to their end; what is older says less of how it is today. */
const mostEarlier = 20

function earlierCrews(rows: readonly WorkflowRow[]): EarlierCrews {
  const ended = rows
    .filter(({ name, status, totalAgents }) => name === 'crew' && status === 'completed' && totalAgents)
    .toSorted((a, b) => b.seq - a.seq)
    .slice(0, mostEarlier)
  const sum = (of: 'totalAgents' | 'totalTokens') => ended.reduce((all, row) => all + (row[of] ?? 0), 0)
  return { crews: ended.length, agents: sum('totalAgents'), tokens: sum('totalTokens') }
}

const recordOf = (row: WorkflowRow): FlowRecord => ({
  id: row.workflowId,
  name: row.name ?? '',
  version: row.version ?? '',
  status: row.status,
  sessionId: row.sessionId,
  inputDigest: row.inputDigest ?? '',
})
