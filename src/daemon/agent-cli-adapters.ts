import { claudeCli } from '../adapters/claude/claude-cli.ts'
import { codexCli } from '../adapters/codex/codex-cli.ts'
import { customCli } from '../adapters/custom/custom-cli.ts'
import { geminiCli } from '../adapters/gemini/gemini-cli.ts'
import { opencodeCli } from '../adapters/opencode/opencode-cli.ts'
import { piCli } from '../adapters/pi/pi-cli.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { rememberVersion } from '../adapters/system/remember-version.ts'
import type { AgentCliName } from '../contract/config/names.ts'
import type { AgentCli } from '../ports/agent-cli.ts'

/** Every coding agent that can be run. */
export function agentCliAdapters(
  env: Readonly<Record<string, string | undefined>>,
): Record<AgentCliName, AgentCli> {
  const remembering = (cli: AgentCli) => rememberVersion(cli, { path: env['PATH'], clock: systemClock })
  return {
    claude: remembering(claudeCli({ env, isRoot: process.getuid?.() === 0 })),
    codex: remembering(codexCli()),
    gemini: remembering(geminiCli()),
    opencode: remembering(opencodeCli()),
    pi: remembering(piCli()),
    custom: remembering(customCli()),
  }
}
