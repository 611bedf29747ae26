import * as z from 'zod'
import { contentText, contentTexts } from './content-text.ts'
import { anyObject, type Conversation } from './conversation.ts'
import { looseList } from './loose-list.ts'
import { joinModelTurns, type Turn } from './turn.ts'

const Message = z.looseObject({ role: z.string().catch('user'), content: z.unknown().optional() })
const Tool = z.looseObject({ function: z.looseObject({ name: z.string().catch('') }).catch({ name: '' }) })
const Request = z.looseObject({
  model: z.string().catch('scripted'),
  stream: z.boolean().catch(false),
  messages: looseList(Message),
  tools: looseList(Tool),
  response_format: z
    .looseObject({
      type: z.string(),
      json_schema: z.looseObject({ schema: z.unknown().optional() }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
})

/** Reads a request of the OpenAI Chat Completions API. */
export function readChat(body: unknown): Conversation {
  const { model, stream, messages, tools, response_format: format } = Request.parse(body)
  const isShaped = format !== undefined && format.type !== 'text'
  const isSide = isShaped || tools.length === 0
  return {
    model,
    isStream: stream,
    turns: joinModelTurns(messages.flatMap(turnsOf)),
    tools: new Map(tools.map((tool) => [tool.function.name, { takesText: false }])),
    side: isSide ? { shape: isShaped ? (format.json_schema?.schema ?? anyObject) : undefined } : undefined,
  }
}

function turnsOf({ role, content }: z.infer<typeof Message>): Turn[] {
  if (role === 'assistant') return [{ role: 'model', text: contentText(content) }]
  if (role === 'tool' || role === 'function') return [{ role: 'tool', text: contentText(content) }]
  if (role !== 'user') return [{ role: 'other', text: '' }]
  return contentTexts(content).map((text) => ({ role: 'user', text }))
}
