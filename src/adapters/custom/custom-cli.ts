import { customDialect } from '../../contract/formats/custom/dialect.ts'
import type { AgentCli } from '../../ports/agent-cli.ts'

/** Any configured program: it is started as it is, and what it does is seen by its process and screen alone. */
export function customCli(): AgentCli {
  return {
    name: 'custom',
    dialect: customDialect,
    plan: async ({ command, args }) => ({ argv: [command, ...args], env: {}, files: [], isPromptGiven: false }),
    version: async () => undefined,
    login: async () => ({ state: 'unknown', detail: 'a program of your own' }),
    transcripts: async () => [],
    foreign: async () => [],
  }
}
