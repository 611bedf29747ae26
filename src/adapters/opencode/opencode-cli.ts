import { opencodeDialect } from '../../contract/formats/opencode/dialect.ts'
import type { AgentCli, LoginState } from '../../ports/agent-cli.ts'
import { askProgram, versionOf } from '../system/run-program.ts'
import { openCodePlan } from './plan.ts'

/** OpenCode. Its conversations are in a database of its own, so everything is told by the plugin. */
export function opencodeCli(): AgentCli {
  return {
    name: 'opencode',
    dialect: opencodeDialect,
    plan: openCodePlan,
    version: versionOf,
    login,
    transcripts: async () => [],
    mayHaveRun: async () => true,
    foreign: async () => [],
  }
}

/** Credentials are one way among several: a provider may be local, free, or have its key in the configuration. */
async function login(command: string, signal: AbortSignal): Promise<LoginState> {
  const answer = await askProgram(command, ['auth', 'list'], { signal })
  const counts = [...(answer?.stdout ?? '').matchAll(/(\d+) (credential|environment variable)s?/g)]
  const known = counts.reduce((sum, [, count]) => sum + Number(count), 0)
  if (answer?.code === 0 && known > 0)
    return { state: 'in', detail: `${known} credentials or keys are known` }
  return {
    state: 'unknown',
    detail: 'no credentials are stored; a provider in the configuration may need none',
  }
}
