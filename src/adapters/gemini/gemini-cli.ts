import { geminiDialect } from '../../contract/formats/gemini/dialect.ts'
import type { AgentCli } from '../../ports/agent-cli.ts'
import { versionOf } from '../system/ask-program.ts'
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
    foreign: async () => [],
  }
}
