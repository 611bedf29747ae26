import type { AskedQuestion } from '../../signal.ts'
import { foreign, foreignList, foreignText, told } from '../foreign-json.ts'

/** The questions of a `request_user_input` call. */
export function codexQuestions(input: unknown): readonly AskedQuestion[] {
  return foreignList(foreign(input)['questions']).flatMap((item) => {
    const { question, header, options } = foreign(item)
    const asked = foreignText(question)
    if (asked === undefined) return []
    const choices = foreignList(options).flatMap((choice) => {
      const label = foreignText(foreign(choice)['label'])
      return label === undefined
        ? []
        : [told({ label, description: foreignText(foreign(choice)['description']) })]
    })
    return [told({ question: asked, header: foreignText(header), options: choices, isMany: false })]
  })
}
