import { openLsp } from '../../adapters/lsp/open-lsp.ts'
import type { AgentDefinition } from '../../contract/agent-definition.ts'
import type { McpServer } from '../../contract/mcp-server.ts'
import { agentServers } from '../../core/delegation/agent-servers.ts'
import type { Processes } from '../../ports/processes.ts'
import type { OpenedTools, RuntimeParts } from '../../runtime/parts.ts'

type Around = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly processes: Processes
  readonly hidden: readonly string[]
  /** The MCP servers of the settings. */
  readonly servers: () => Readonly<Record<string, McpServer>>
}

const none: OpenedTools = { tools: [], problems: [], close: async () => {} }

/** Tools that are started for one run and end with it: of MCP servers, and of the language server of a project. */
export const toolsOfAgents =
  (around: Around): RuntimeParts['openTools'] =>
  async (agent, workspace, signal) => {
    const lsp = await languageServer(around, agent, workspace)
    try {
      const mcp = await mcpServers(around, { agent, workspace }, signal)
      return {
        tools: [...lsp.tools, ...mcp.tools],
        problems: mcp.problems,
        close: async () => void (await Promise.all([lsp.close(), mcp.close()])),
      }
    } catch (error) {
      await lsp.close()
      throw error
    }
  }

async function languageServer(
  { env, processes, hidden }: Around,
  agent: AgentDefinition,
  workspace: string,
): Promise<OpenedTools> {
  if (!agent.tools.includes('LSP') && !agent.tools.includes('*')) return none
  const lsp = openLsp({ env, processes, hidden })
  const found = await lsp.present(workspace)
  return found.ok ? { tools: [lsp.tool], problems: [], close: () => lsp.close() } : none
}

async function mcpServers(
  { env, processes, servers: configured }: Around,
  { agent, workspace }: { readonly agent: AgentDefinition; readonly workspace: string },
  signal: AbortSignal,
): Promise<OpenedTools> {
  if (agent.mcp === undefined) return none
  const { servers, problems } = agentServers(agent.mcp, configured())
  // Few agents have any, and the protocol's library takes its time to load.
  const { openMcp } = await import('../../adapters/mcp/open-mcp.ts')
  const opened = await openMcp({ servers, env, folder: workspace, processes, signal })
  return { ...opened, problems: [...problems, ...opened.problems] }
}
