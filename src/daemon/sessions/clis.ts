import { claudeCli } from '../../adapters/claude/claude-cli.ts'
import { codexCli } from '../../adapters/codex/codex-cli.ts'
import { customCli } from '../../adapters/custom/custom-cli.ts'
import { geminiCli } from '../../adapters/gemini/gemini-cli.ts'
import { opencodeCli } from '../../adapters/opencode/opencode-cli.ts'
import { piCli } from '../../adapters/pi/pi-cli.ts'
import type { AgentCliName } from '../../contract/config/names.ts'
import type { AgentCli } from '../../ports/agent-cli.ts'

/** Every coding agent that can be run. */
export function agentClis(env: Readonly<Record<string, string | undefined>>): Record<AgentCliName, AgentCli> {
  return {
    claude: claudeCli({ env, isRoot: process.getuid?.() === 0 }),
    codex: codexCli(),
    gemini: geminiCli(),
    opencode: opencodeCli(),
    pi: piCli(),
    custom: customCli(),
  }
}
