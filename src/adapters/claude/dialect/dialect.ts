import type { Dialect } from '../../../ports/agent-cli.ts'
import { answerKeys } from '../../system/screen-dialogs.ts'
import { claudeAnswerRules } from './answer-rules.ts'
import { decisionReply, gateReply, injectReply, nothing } from './answers.ts'
import { harmless } from './harmless.ts'
import { hookSignals } from './hooks.ts'
import { readClaudeScreen } from './screen.ts'
import { transcriptSignals } from './transcript.ts'
import { typing } from './typing.ts'

/** How Claude Code speaks, from 2.1.197 on. */
export const claudeDialect: Dialect = {
  cli: 'claude',
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
