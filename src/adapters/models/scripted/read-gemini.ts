import * as z from 'zod'
import { anyObject, type Conversation } from './conversation.ts'
import { looseList } from './loose-list.ts'
import { joinModelTurns, type Turn } from './turn.ts'

const Part = z.looseObject({
  text: z.string().optional().catch(undefined),
  functionResponse: z.looseObject({ response: z.unknown().optional() }).optional().catch(undefined),
})
const Content = z.looseObject({ role: z.string().catch('user'), parts: looseList(Part) })
const Declared = looseList(z.looseObject({ name: z.string().catch('') }))
const Request = z.looseObject({
  contents: looseList(Content),
  tools: looseList(z.looseObject({ functionDeclarations: Declared })),
  generationConfig: z
    .looseObject({
      responseMimeType: z.string().optional().catch(undefined),
      responseSchema: z.unknown().optional(),
      responseJsonSchema: z.unknown().optional(),
    })
    .catch({}),
})

/** Reads a request of the Gemini API; its model and whether it streams are in the path. */
export function readGemini(body: unknown, path: { model: string; isStream: boolean }): Conversation {
  const { contents, tools, generationConfig: wanted } = Request.parse(body)
  const schema = wanted.responseJsonSchema ?? wanted.responseSchema
  const isShaped = schema !== undefined || wanted.responseMimeType === 'application/json'
  const names = tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name))
  return {
    ...path,
    turns: joinModelTurns(contents.flatMap(turnsOf)),
    tools: new Map(names.map((name) => [name, { takesText: false }])),
    side:
      isShaped || names.length === 0 ? { shape: isShaped ? (schema ?? anyObject) : undefined } : undefined,
  }
}

function turnsOf({ role, parts }: z.infer<typeof Content>): Turn[] {
  if (role === 'model') return [{ role: 'model', text: parts.map(({ text }) => text ?? '').join('') }]
  return parts.map(({ text, functionResponse }) =>
    functionResponse === undefined
      ? { role: text === undefined ? 'other' : 'user', text: text ?? '' }
      : { role: 'tool', text: resultText(functionResponse.response) },
  )
}

function resultText(response: unknown): string {
  if (typeof response === 'string') return response
  if (typeof response !== 'object' || response === null) return ''
  const { output, error } = response as { output?: unknown; error?: unknown }
  const said = output ?? error
  return typeof said === 'string' ? said : JSON.stringify(response)
}
