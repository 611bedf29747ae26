import { systemClock } from '../../adapters/system/clock.ts'
import { systemIds } from '../../adapters/system/ids.ts'
import { systemProcesses } from '../../adapters/system/processes.ts'
import { agentTools } from '../../adapters/tools/agent-tools.ts'
import { webFetchTool } from '../../adapters/web/web-fetch.ts'
import type { Config } from '../../contract/config.ts'
import { matchesGlob } from '../../core/delegation/globs.ts'
import type { Redactor } from '../../core/redaction/redactor.ts'
import type { Budgets } from '../../engine/budgets.ts'
import type { Engine } from '../../engine/engine.ts'
import type { LiveHub } from '../../http/live.ts'
import type { AgentDefinitions } from '../../ports/agent-definitions.ts'
import type { JournalReader } from '../../ports/journal.ts'
import type { Models } from '../../ports/models.ts'
import type { Vault } from '../../ports/vault.ts'
import { Runtime } from '../../runtime/runtime.ts'
import { Slots } from '../../runtime/slots.ts'
import type { IndexClient } from '../index-client.ts'
import type { IndexThread } from '../index-thread.ts'
import { sessionEventsOf } from '../session-events-of.ts'
import { toolsOfAgents } from './tools-of-agents.ts'

export type RuntimeOptions = {
  readonly engine: Engine
  readonly vault: Vault
  readonly budgets: Budgets
  readonly journal: JournalReader
  readonly index: IndexClient
  readonly thread: IndexThread
  readonly config: () => Config
  readonly agents: AgentDefinitions
  readonly models: Models
  readonly redactor: Redactor
  readonly env: Readonly<Record<string, string | undefined>>
  /** Folders of which no command of an agent sees anything. */
  readonly hidden: readonly string[]
  readonly live: LiveHub
  readonly onBug: (error: unknown, where: string) => void
}

/** Builds what Muster's own agents are run with. */
export function openRuntime(options: RuntimeOptions): Runtime {
  const { agents, env, hidden, live, redactor } = options
  const { web } = options.config().runtime
  const processes = systemProcesses(systemClock)
  return new Runtime({
    engine: options.engine,
    vault: options.vault,
    budgets: options.budgets,
    clock: systemClock,
    ids: systemIds(systemClock),
    chance: Math.random,
    config: options.config,
    agents: async (root, signal) => (await agents.load({ root, trusted: false }, signal)).agents,
    models: options.models,
    slots: new Slots(() => options.config().runtime.max_concurrent),
    tools: [
      ...agentTools({ env, processes, matchesGlob, hidden }),
      // Who may be asked without a question is decided before; what is private is refused unless it is named in full.
      webFetchTool({ policy: { allow: ['*', ...web.allow], deny: web.deny } }),
    ],
    openTools: toolsOfAgents({ env, processes, hidden, servers: () => options.config().runtime.mcp_servers }),
    events: sessionEventsOf(options),
    onToken: (delta) => live.publish(delta),
    onOutput: (line) => live.publish(line),
    textStream: () => redactor.stream(),
    onBug: options.onBug,
  })
}
