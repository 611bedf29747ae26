import { piDialect } from '../../contract/formats/pi/dialect.ts'
import type { AgentCli, LoginState } from '../../ports/agent-cli.ts'
import { askProgram, versionOf } from '../system/run-program.ts'
import { piPlan } from './plan.ts'
import { piTranscripts } from './transcripts.ts'

/** The pi coding agent. */
export function piCli(): AgentCli {
  return {
    name: 'pi',
    dialect: piDialect,
    plan: piPlan,
    version: versionOf,
    login,
    transcripts: piTranscripts,
    // Its id is told by a hook; without one nothing is certain.
    mayHaveRun: async (conversation) =>
      conversation.foreignId === undefined || (await piTranscripts(conversation)).length > 0,
    foreign: async () => [],
  }
}

/** pi lists the models that it has a key or a login for. */
async function login(command: string, signal: AbortSignal): Promise<LoginState> {
  const answer = await askProgram(command, ['--offline', '--list-models'], { signal })
  const said = `${answer?.stdout ?? ''}\n${answer?.stderr ?? ''}`
  if (/No models available/i.test(said))
    return { state: 'out', detail: 'no model has a key; run `pi` and /login' }
  const models = said.split('\n').filter((line) => /^\S+ +\S+ /.test(line) && !/^provider /i.test(line))
  if (answer?.code === 0 && models.length > 0)
    return { state: 'in', detail: `${models.length} models can be used` }
  return { state: 'unknown', detail: '`pi --list-models` gave no answer that is known' }
}
