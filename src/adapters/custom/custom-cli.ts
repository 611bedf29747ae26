import { AppError } from '../../contract/errors.ts'
import type { AgentCli, Dialect, LaunchPlan, LaunchRequest } from '../../ports/agent-cli.ts'
import { emptyReply } from '../system/hook-payload.ts'
import { fitsArgument } from '../system/run-program.ts'

/** A program of the user's own: it is started as configured, and everything else is seen on its screen. */
export function customCli(): AgentCli {
  return {
    name: 'custom',
    dialect: customDialect,
    plan: async (request) => customPlan(request),
    // Nobody knows what a program of the user's own does when it is run only to be asked.
    version: async () => '',
    login: async () => ({ state: 'unknown', detail: 'Muster knows nothing about a custom program' }),
    transcripts: async () => [],
    mayHaveRun: async () => true,
    foreign: async () => [],
  }
}

function customPlan({ command, args, prompt, promptBy, role }: LaunchRequest): LaunchPlan {
  // Nothing in an unknown program asks before a tool runs, so a limit would be a promise without a keeper.
  if (role?.tools)
    throw new AppError(
      'denied',
      `the tools of a role cannot be limited in ${command}; give the role \`tools: ["*"]\` or another CLI`,
    )
  const text = prompt === undefined || !role?.text ? prompt : `${role.text}\n\n${prompt}`
  const isPromptGiven = promptBy === 'argument' && text !== undefined && fitsArgument(text)
  return {
    argv: [command, ...args, ...(isPromptGiven ? [text] : [])],
    env: {},
    files: [],
    isPromptGiven,
    homes: [],
  }
}

/** A program nothing is known of: it tells nothing, and its screen is text. */
const customDialect: Dialect = {
  hook: () => [],
  line: () => [],
  screen: () => ({ composer: { state: 'none' }, isWorking: false }),
  keeps: [],
  decision: () => undefined,
  gate: (_payload, answer) => (answer.allowed ? emptyReply : { body: answer.reason, exitCode: 2 }),
  inject: () => undefined,
  nothing: emptyReply,
  typing: () => ({
    submit: ['Enter'],
    interrupt: ['C-c'],
    clear: ['C-u'],
    settleMs: 300,
    quit: ['C-d'],
  }),
  harmless: (text) => text,
}
