import type { AgentDefinition } from '../../contract/agent-definition.ts'
import { McpServer } from '../../contract/mcp-server.ts'

/** The MCP servers of an agent, and what of its list cannot be had. */
export type AgentServers = {
  readonly servers: Readonly<Record<string, McpServer>>
  readonly problems: readonly { readonly server: string; readonly reason: string }[]
}

/** An agent names servers of the settings, or brings its own; it has no others. */
export function agentServers(
  mcp: AgentDefinition['mcp'],
  configured: Readonly<Record<string, McpServer>>,
): AgentServers {
  const servers: Record<string, McpServer> = {}
  const problems: { server: string; reason: string }[] = []
  const names = Array.isArray(mcp) ? mcp : Object.keys(mcp ?? {})
  for (const server of names) {
    const own = Array.isArray(mcp) ? undefined : mcp?.[server]
    if (own === undefined || own === null) {
      const known = Object.hasOwn(configured, server) ? configured[server] : undefined
      if (known) servers[server] = known
      else problems.push({ server, reason: 'there is no such server in the settings' })
      continue
    }
    const parsed = McpServer.safeParse(own)
    if (parsed.success) servers[server] = parsed.data
    else problems.push({ server, reason: parsed.error.issues[0]?.message ?? 'it does not fit' })
  }
  return { servers, problems }
}
