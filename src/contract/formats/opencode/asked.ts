import type { AskedQuestion } from '../../signal.ts'
import { type Foreign, foreign, foreignList, foreignText, told } from '../foreign-json.ts'
import { openCodeTool } from './tools.ts'

/** What a permission or a question asks. */
export function openCodeAsked(hook: Foreign) {
  const callId = foreignText(foreign(hook['tool'])['callID'])
  if (hook['event'] === 'question.asked')
    return {
      ask: 'question',
      questions: openCodeQuestions(hook),
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

export function openCodeQuestions(hook: Foreign): readonly AskedQuestion[] {
  return foreignList(hook['questions']).flatMap((item) => {
    const { question, header, options, multiple } = foreign(item)
    const asked = foreignText(question)
    if (asked === undefined) return []
    const choices = foreignList(options).flatMap((choice) => {
      const label = foreignText(foreign(choice)['label'])
      return label === undefined
        ? []
        : [told({ label, description: foreignText(foreign(choice)['description']) })]
    })
    return [
      told({ question: asked, header: foreignText(header), options: choices, isMany: multiple === true }),
    ]
  })
}
