import { AppError } from '../../contract/errors.ts'
import type { McpServer } from '../../contract/mcp-server.ts'

type Environment = Readonly<Record<string, string | undefined>>

const placeholder = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** Puts variables of the environment where a server names them, so that no secret has to be in a file. */
export function fillIn(server: McpServer, env: Environment): McpServer {
  const fill = (text: string): string =>
    text.replaceAll(placeholder, (_all, name: string, otherwise: string | undefined) => {
      const value = env[name] ?? otherwise
      if (value === undefined)
        throw new AppError(
          'invalid',
          `it needs the variable ${name}, which is not set in the environment of the daemon`,
        )
      return value
    })
  const fillAll = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]))
  if ('url' in server) return { ...server, url: fill(server.url), headers: fillAll(server.headers) }
  return { ...server, command: fill(server.command), args: server.args.map(fill), env: fillAll(server.env) }
}
