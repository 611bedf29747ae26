import { createHash } from 'node:crypto'

/** What every provider takes as the name of a tool. */
const longest = 64

/** The name under which an agent uses a tool of a server, as in Claude Code. */
export function toolName(server: string, tool: string): string {
  const name = `mcp__${plain(server)}__${plain(tool)}`
  if (name.length <= longest) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, longest - digest.length - 1)}_${digest}`
}

const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
