import type { AskedQuestion } from '../signal.ts'
import { foreign, foreignList, foreignText, told } from './foreign-json.ts'

/** The questions in a tool's input. All CLIs write them alike; that several answers may be chosen has three names. */
export function askedQuestions(input: unknown): readonly AskedQuestion[] {
  return foreignList(foreign(input)['questions']).flatMap((item) => {
    const { question, header, options, multiple, multiSelect, isMany } = foreign(item)
    const asked = foreignText(question)
    if (asked === undefined) return []
    const choices = foreignList(options).flatMap((choice) => {
      const label = foreignText(foreign(choice)['label'])
      return label === undefined
        ? []
        : [told({ label, description: foreignText(foreign(choice)['description']) })]
    })
    const many = [multiple, multiSelect, isMany].includes(true)
    return [told({ question: asked, header: foreignText(header), options: choices, isMany: many })]
  })
}
