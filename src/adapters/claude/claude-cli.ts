import type { AgentCli } from '../../ports/agent-cli.ts'
import { askLogin } from './ask-login.ts'
import { askVersion } from './ask-version.ts'
import { claudeDialect } from './dialect/dialect.ts'
import { findForeign } from './find-foreign.ts'
import { findTranscripts } from './find-transcripts.ts'
import { planLaunch } from './plan-launch.ts'

/** What the adapter must know of the process it runs in. */
export type Surroundings = {
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
    version: (command, signal) => askVersion(command, { env, signal }),
    login: (command, signal) => askLogin(command, { env, signal }),
    transcripts: findTranscripts,
    // Its id is chosen before it starts, and its file is there before a tool runs.
    mayHaveRun: async (conversation) => (await findTranscripts(conversation)).length > 0,
    foreign: findForeign,
  }
}
