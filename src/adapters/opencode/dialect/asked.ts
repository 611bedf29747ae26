import {
  type Foreign,
  foreign,
  foreignList,
  foreignText,
  told,
} from '../../../contract/formats/foreign-json.ts'
import { askedQuestions } from '../../system/asked-questions.ts'
import { openCodeTool } from './tools.ts'

/** What a permission or a question asks. */
export function openCodeAsked(hook: Foreign) {
  const callId = foreignText(foreign(hook['tool'])['callID'])
  if (hook['event'] === 'question.asked')
    return {
      ask: 'question',
      questions: askedQuestions(hook),
      ...told({ tool: 'AskUserQuestion', callId }),
    } as const
  const permission = foreignText(hook['permission'])
  const patterns = foreignList(hook['patterns']).filter((pattern) => typeof pattern === 'string')
  return {
    ask: 'permission',
    ...told({
      tool: permission && openCodeTool(permission),
      callId,
      input: hook['metadata'],
      detail: patterns.length > 0 ? patterns.join('\n') : undefined,
    }),
  } as const
}
