import { openLsp } from '../../adapters/lsp/open-lsp.ts'
import { openModels } from '../../adapters/models/open-models.ts'
import { systemProcesses } from '../../adapters/system/processes.ts'
import { agentTools } from '../../adapters/tools/agent-tools.ts'
import { webFetchTool } from '../../adapters/web/web-fetch.ts'
import type { AgentDefinition } from '../../contract/agent-definition.ts'
import type { McpServer } from '../../contract/mcp-server.ts'
import { agentServers } from '../../core/delegation/allowed-tools.ts'
import { matchesGlob } from '../../core/delegation/globs.ts'
import type { FileTrust } from '../../ports/definitions.ts'
import type { Models } from '../../ports/model.ts'
import type { Processes } from '../../ports/processes.ts'
import { Runtime } from '../../runtime/runtime.ts'
import type { OpenedTools, RuntimeParts } from '../../runtime/runtime-parts.ts'
import { Slots } from '../../runtime/slots.ts'
import type { Base, Feature } from '../base.ts'

/** Agents that run inside the daemon, with the models and tools they use. */
export function builtInAgents(base: Base): Feature & { readonly runtime: Runtime; readonly models: Models } {
  const { options, config, clock, env, live, redaction } = base
  const { web } = config.runtime
  const processes = systemProcesses(clock)
  const models = openModels({ config: config.models, env, clock })
  // No command of an agent sees anything of the state folder.
  const hidden = [base.files.home]
  const runtime = new Runtime({
    engine: base.engine,
    vault: base.vault,
    budgets: base.budgets,
    clock,
    ids: base.ids,
    chance: Math.random,
    config: () => config,
    settingsIn: async (folder, signal) => (await base.settingsIn({ folder }, signal)).config,
    agents: async (folder, signal) => (await base.agentsIn(folder, signal)).agents,
    models,
    prices: base.prices,
    slots: new Slots(() => config.runtime.max_concurrent),
    tools: [
      ...agentTools({ env: options.env, processes, matchesGlob, hidden }),
      // Who may be asked without a question is decided before; what is private is refused unless it is named in full.
      webFetchTool({ policy: { allow: ['*', ...web.allow], deny: web.deny } }),
    ],
    openTools: toolsOfAgents({
      env: options.env,
      processes,
      hidden,
      trustIn: (workspace) => base.project(workspace).trusts,
      servers: async (workspace, signal) =>
        (await base.settingsIn({ folder: workspace }, signal)).config.runtime.mcp_servers,
    }),
    events: base.facts,
    onToken: (delta) => live.publish(delta),
    onOutput: (line) => live.publish(line),
    textStream: () => redaction.redactor.stream(),
    onBug: base.onBug,
  })
  return {
    runtime,
    models,
    // Before anybody can say anything: what is begun from now on was not left by another daemon.
    prepare: () => runtime.start(),
    async stop() {
      await runtime.stop()
      await models.close()
    },
  }
}

type Around = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly processes: Processes
  readonly hidden: readonly string[]
  readonly trustIn: (workspace: string) => FileTrust
  /** The MCP servers of the settings that hold in a folder. */
  readonly servers: (workspace: string, signal: AbortSignal) => Promise<Readonly<Record<string, McpServer>>>
}

/** A project without a language server has the whole PATH searched for one; a new one is found so much later. */
const absentMs = 10_000
const mostAbsent = 100

const none: OpenedTools = { tools: [], problems: [], close: async () => {} }

/** Tools that are started for one run and end with it: of MCP servers, and of the language server of a project. */
const toolsOfAgents = (around: Around): RuntimeParts['openTools'] => {
  const absent = new Map<string, number>()
  return async (agent, workspace, signal) => {
    const lsp = await languageServer({ ...around, absent, signal }, agent, workspace)
    try {
      const mcp = await mcpServers(around, { agent, workspace }, signal)
      return {
        tools: [...lsp.tools, ...mcp.tools],
        problems: [...lsp.problems, ...mcp.problems],
        close: async () => void (await Promise.all([lsp.close(), mcp.close()])),
      }
    } catch (error) {
      await lsp.close()
      throw error
    }
  }
}

type Looking = {
  /** Until when nobody looks again for a server of a project that had none. */
  readonly absent: Map<string, number>
  readonly signal: AbortSignal
}

async function languageServer(
  { env, processes, hidden, trustIn, absent, signal }: Around & Looking,
  agent: AgentDefinition,
  workspace: string,
): Promise<OpenedTools> {
  if (!agent.tools.includes('LSP') && !agent.tools.includes('*')) return none
  if (performance.now() < (absent.get(workspace) ?? 0)) return none
  const lsp = openLsp({ env, processes, hidden, trustIn })
  const found = await lsp.present(workspace, signal)
  if (found.ok) return { tools: [lsp.tool], problems: [], close: () => lsp.close() }
  if (found.isHeld) return { ...none, problems: [{ server: 'LSP', reason: found.reason }] }
  if (absent.size >= mostAbsent) absent.clear()
  absent.set(workspace, performance.now() + absentMs)
  return none
}

async function mcpServers(
  { env, processes, servers: configured }: Around,
  { agent, workspace }: { readonly agent: AgentDefinition; readonly workspace: string },
  signal: AbortSignal,
): Promise<OpenedTools> {
  if (agent.mcp === undefined) return none
  const { servers, problems } = agentServers(agent.mcp, await configured(workspace, signal))
  // Few agents have any, and the protocol's library takes its time to load.
  const { openMcp } = await import('../../adapters/mcp/open-mcp.ts')
  const opened = await openMcp({ servers, env, folder: workspace, processes, signal })
  return { ...opened, problems: [...problems, ...opened.problems] }
}
