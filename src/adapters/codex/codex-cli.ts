import { codexDialect } from '../../contract/formats/codex/dialect.ts'
import type { AgentCli, LoginState } from '../../ports/agent-cli.ts'
import { askProgram, versionOf } from '../system/run-program.ts'
import { codexForeign } from './foreign.ts'
import { codexPlan } from './plan.ts'
import { codexMayHaveRun, codexTranscripts } from './transcripts.ts'

/** The Codex CLI of OpenAI. */
export function codexCli(): AgentCli {
  return {
    name: 'codex',
    dialect: codexDialect,
    plan: async (request) => codexPlan(request),
    version: versionOf,
    login,
    transcripts: codexTranscripts(),
    mayHaveRun: codexMayHaveRun,
    foreign: (env) => codexForeign(env),
  }
}

async function login(command: string, signal: AbortSignal): Promise<LoginState> {
  const answer = await askProgram(command, ['login', 'status'], { signal })
  const said = `${answer?.stdout ?? ''}\n${answer?.stderr ?? ''}`
  // Behind the dash stands a part of the key.
  const isIn = /^Logged in using [^-\n]*/m.exec(said)?.[0].trim()
  if (answer?.code === 0 && isIn) return { state: 'in', detail: isIn }
  if (/^Not logged in/m.test(said))
    return {
      state: 'out',
      detail: 'not logged in: `codex login`, or a provider with its own key in config.toml',
    }
  return { state: 'unknown', detail: '`codex login status` gave no answer that is known' }
}
