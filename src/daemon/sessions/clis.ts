import { codexCli } from '../../adapters/codex/codex-cli.ts'
import { customCli } from '../../adapters/custom/custom-cli.ts'
import { geminiCli } from '../../adapters/gemini/gemini-cli.ts'
import { opencodeCli } from '../../adapters/opencode/opencode-cli.ts'
import { piCli } from '../../adapters/pi/pi-cli.ts'
import type { AgentCliName } from '../../contract/config/names.ts'
import type { AgentCli } from '../../ports/agent-cli.ts'

/** Every coding agent that can be run. */
export function agentClis(): Record<AgentCliName, AgentCli> {
  return {
    claude: customCli(),
    codex: codexCli(),
    gemini: geminiCli(),
    opencode: opencodeCli(),
    pi: piCli(),
    custom: customCli(),
  }
}
