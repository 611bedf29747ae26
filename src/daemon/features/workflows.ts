import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { gitBranches } from '../../adapters/git/branches.ts'
import { nodeScripts } from '../../adapters/scripts/node-scripts.ts'
import { documentFolder } from '../../adapters/system/durable-files.ts'
import { systemProcesses } from '../../adapters/system/processes.ts'
import { shellChecks } from '../../adapters/tools/agent-tools.ts'
import { type CollaborationFiles, openCollaborationFiles } from '../../api/collaboration-files.ts'
import type { WorkflowRow } from '../../contract/index-rows.ts'
import { BlobRef } from '../../contract/values.ts'
import type { EarlierCrews } from '../../core/collaboration/crew-effort.ts'
import { matchesGlob } from '../../core/delegation/globs.ts'
import type { Branches } from '../../ports/branches.ts'
import type { Procedure } from '../../ports/durable.ts'
import type { Scripts } from '../../ports/scripts.ts'
import type { Workers } from '../../ports/workers.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { CliWorker } from '../../workflow/cli-worker.ts'
import { crewProcedure } from '../../workflow/crew/crew-procedure.ts'
import { FactWaits } from '../../workflow/fact-waits.ts'
import type { FlowRecord } from '../../workflow/local/recorded-flow.ts'
import { scriptProcedure } from '../../workflow/script/script-procedure.ts'
import { Workflows } from '../../workflow/workflows.ts'
import type { Base, Feature } from '../base.ts'
import type { TerminalSessions } from './terminal-sessions.ts'

type Needs = { readonly sessions: TerminalSessions; readonly runtime: Runtime }

/** Crews and scripts, the session files that are written as they go, and what they use. */
export type WorkflowsFeature = Feature & {
  readonly workflows: Workflows
  readonly branches: Branches
  readonly scripts: Scripts
  readonly collaborations: CollaborationFiles
}

/** Durable procedures on this machine. */
export function workflowsFeature(base: Base, { sessions, runtime }: Needs): WorkflowsFeature {
  const { engine, vault, index, clock, ids, journal, config, options, files, facts: events, onBug } = base
  const caughtUp = () => sessions.directory.caughtUp()
  const processes = systemProcesses(clock)
  const branches = gitBranches({ processes, clock })
  const waits = new FactWaits()
  const worktrees = join(files.home, 'worktrees')
  const cli = new CliWorker({
    engine,
    clock,
    waits,
    sessions: async () => (await sessions.host.open()).sessions,
    events: base.observed,
    async text(body) {
      if (typeof body === 'string') return body
      const ref = BlobRef.safeParse(body)
      return ref.success ? journal.blobs.get(ref.data) : ''
    },
    async tokens(sessionId) {
      await caughtUp()
      const [sum] = await index.ask('usage', { sessionId, isSubtree: true })
      return sum?.tokens ?? 0
    },
  })
  const workers: Workers = {
    run: (work, signal) => (work.cli === 'own' ? runtime.workflowAgents : cli).run(work, signal),
  }
  const parts = {
    engine,
    clock,
    workers,
    budgets: base.budgets,
    prices: base.prices,
    branches,
    checks: shellChecks({ env: options.env, processes, matchesGlob }),
    events,
    worktrees,
    treeNames: () => readdir(worktrees).catch(() => []),
    async earlier() {
      await caughtUp()
      return earlierCrews(await index.ask('workflows', { limit: 500 }))
    },
    onBug,
  }
  const scripts = nodeScripts({ processes, parse: base.parser.parse, path: options.env['PATH'] ?? '' })
  const workflows = new Workflows({
    engine,
    vault,
    clock,
    ids,
    limits: () => config.limits,
    procedures: [crewProcedure(parts), scriptProcedure({ ...parts, scripts })] as readonly Procedure<
      never,
      unknown
    >[],
    events,
    async records(id) {
      await caughtUp()
      const rows = await index.ask('workflows', { limit: 500, ...(id !== undefined && { workflowId: id }) })
      return rows.map(recordOf)
    },
    onBug,
  })
  const collaborations = openCollaborationFiles({
    engine,
    journal,
    blobs: journal.blobs,
    index,
    clock,
    caughtUp,
    documents: documentFolder(files.collaborations),
    onBug,
  })
  return {
    workflows,
    branches,
    scripts,
    collaborations,
    reactors: [waits.reactor, collaborations.reactor],
    // After the sessions that its agents may be.
    async start() {
      await workflows.start()
      await collaborations.start()
    },
    async stop() {
      await workflows.stop()
      await collaborations.stop()
    },
  }
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
