import * as z from 'zod'
import { foreignJson } from '../../contract/formats/foreign-json.ts'
import type { AgentCli, Dialect, LoginState } from '../../ports/agent-cli.ts'
import { type Asking, askProgram, askVersion, versionIn } from '../system/run-program.ts'
import { answerKeys } from '../system/screen-dialogs.ts'
import { findForeign, findTranscripts } from './claude-conversations.ts'
import { decisionReply, gateReply, hookSignals, injectReply, nothing } from './claude-hooks.ts'
import { planLaunch } from './claude-launch.ts'
import { readClaudeScreen } from './claude-screen.ts'
import { claudeAnswerRules } from './claude-screen-rules.ts'
import { transcriptSignals } from './claude-transcript.ts'
import { harmless, typing } from './claude-typing.ts'

/** What the adapter must know of the process it runs in. */
type Surroundings = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Claude Code refuses to run unasked as root, unless it is told that it is confined. */
  readonly isRoot: boolean
}

/** Claude Code, from 2.1.197 on. */
export function claudeCli({ env, isRoot }: Surroundings): AgentCli {
  return {
    name: 'claude',
    dialect: claudeDialect,
    plan: (request, signal) => planLaunch(request, { isRoot, signal }),
    version: (command, signal) => claudeVersion(command, { env, signal }),
    login: (command, signal) => askLogin(command, { env, signal }),
    transcripts: findTranscripts,
    // Its id is chosen before it starts, and its file is there before a tool runs.
    mayHaveRun: async (conversation) => (await findTranscripts(conversation)).length > 0,
    foreign: findForeign,
  }
}

/** How Claude Code speaks, from 2.1.197 on. */
export const claudeDialect: Dialect = {
  hook: hookSignals,
  line: transcriptSignals,
  screen: readClaudeScreen,
  keeps: ['session', 'always'],
  decision: decisionReply,
  answerKeys: (dialog, decision) => answerKeys(claudeAnswerRules, dialog, decision),
  gate: gateReply,
  inject: injectReply,
  recordsInjected: true,
  nothing,
  typing,
  harmless,
}

/** The version of the program, or nothing when it is not there or is something else. */
async function claudeVersion(command: string, asking: Asking): Promise<string | undefined> {
  const ran = await askVersion(command, asking)
  return ran?.code === 0 && ran.stdout.includes('Claude Code') ? versionIn(ran.stdout) : undefined
}

const Status = z.looseObject({ loggedIn: z.boolean(), authMethod: z.string().optional() })

/** Whether Claude Code can work, as it says itself; no file of its credentials is read. */
async function askLogin(command: string, asking: Asking): Promise<LoginState> {
  const ran = await askProgram(command, ['auth', 'status', '--json'], asking)
  if (!ran) return { state: 'unknown', detail: `${command} could not be run` }
  // An older version prints words, or asks for something.
  const status = Status.safeParse(foreignJson(ran.stdout))
  if (!status.success)
    return { state: 'unknown', detail: `${command} auth status gave an answer that Muster cannot read` }
  const { loggedIn, authMethod = 'unknown' } = status.data
  return loggedIn
    ? { state: 'in', detail: `by ${authMethod}` }
    : { state: 'out', detail: `run \`${command}\` and type /login, or set ANTHROPIC_API_KEY` }
}
