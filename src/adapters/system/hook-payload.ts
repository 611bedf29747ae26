import { foreign, foreignList, foreignText, told } from '../../contract/formats/foreign-json.ts'
import type { AskedQuestion } from '../../contract/signal.ts'
import type { HookReply } from '../../ports/agent-cli.ts'

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

/** An answer that a hook or plugin reads as JSON. */
export const jsonReply = (value: unknown): HookReply => ({ body: JSON.stringify(value), exitCode: 0 })

/** The answer that changes nothing. */
export const emptyReply: HookReply = { body: '', exitCode: 0 }

/** A CLI's own tool under the name that agent files are written with; one that is not in the table keeps its name. */
export const toolNamed = (names: Readonly<Record<string, string>>, tool: string): string =>
  Object.hasOwn(names, tool) ? (names[tool] ?? tool) : tool
