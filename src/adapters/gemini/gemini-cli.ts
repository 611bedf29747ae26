import { geminiDialect } from '../../contract/formats/gemini/dialect.ts'
import type { AgentCli } from '../../ports/agent-cli.ts'
import { versionOf } from '../system/run-program.ts'
import { geminiPlan } from './plan.ts'
import { geminiTranscripts } from './transcripts.ts'

/** The Gemini CLI of Google. */
export function geminiCli(): AgentCli {
  return {
    name: 'gemini',
    dialect: geminiDialect,
    plan: geminiPlan,
    version: versionOf,
    login: async () => ({
      state: 'unknown',
      detail: 'Gemini has no command that tells; run `gemini` once by hand and choose how to log in',
    }),
    transcripts: geminiTranscripts,
    // Its id is told by a hook; without one nothing is certain.
    mayHaveRun: async (conversation) =>
      conversation.foreignId === undefined || (await geminiTranscripts(conversation)).length > 0,
    foreign: async () => [],
  }
}
