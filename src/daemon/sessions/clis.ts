import { codexCli } from '../../adapters/codex/codex-cli.ts'
import { customCli } from '../../adapters/custom/custom-cli.ts'
import type { AgentCliName } from '../../contract/config/names.ts'
import type { AgentCli } from '../../ports/agent-cli.ts'

/** Every coding agent that can be run. */
export function agentClis(): Record<AgentCliName, AgentCli> {
  return {
    claude: customCli(),
    codex: codexCli(),
    gemini: customCli(),
    opencode: customCli(),
    pi: customCli(),
    custom: customCli(),
  }
}
