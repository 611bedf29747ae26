import * as z from 'zod'
import type { AskedQuestion } from '../../../contract/signal.ts'
import { flag, listOf, text } from './loose.ts'
import { present } from './present.ts'

const Option = z.looseObject({ label: z.string(), description: text })
const Question = z.looseObject({
  question: z.string(),
  header: text,
  options: listOf(Option),
  multiSelect: flag,
})
const Input = z.looseObject({ questions: listOf(Question) })

/** The questions in the input of AskUserQuestion. */
export function questionsOf(input: unknown): readonly AskedQuestion[] {
  const read = Input.safeParse(input)
  return read.success ? read.data.questions.map(asked) : []
}

const asked = ({ question, header, options, multiSelect }: z.infer<typeof Question>): AskedQuestion => ({
  question,
  options: options.map(({ label, description }) => ({ label, ...present({ description }) })),
  isMany: multiSelect === true,
  ...present({ header }),
})
