import * as z from 'zod'
import { contentText } from './content-text.ts'
import type { Conversation } from './conversation.ts'
import { looseList } from './loose-list.ts'
import { joinModelTurns, type Turn } from './turn.ts'

const Block = z.looseObject({ type: z.string().catch('text') })
const Message = z.looseObject({
  role: z.string().catch('user'),
  content: z.union([z.string(), looseList(Block)]),
})
const Shape = z.looseObject({ schema: z.unknown().optional() }).optional().catch(undefined)
const Request = z.looseObject({
  model: z.string().catch('scripted'),
  stream: z.boolean().catch(false),
  messages: looseList(Message),
  tools: looseList(z.looseObject({ name: z.string().catch('') })),
  output_format: Shape,
  output_config: z.looseObject({ format: Shape }).optional().catch(undefined),
})

/** Reads a request of the Anthropic Messages API. */
export function readAnthropic(body: unknown): Conversation {
  const { model, stream, messages, tools, output_config, output_format } = Request.parse(body)
  const shape = output_config?.format ?? output_format
  const isSide = shape !== undefined || tools.length === 0
  return {
    model,
    isStream: stream,
    turns: joinModelTurns(messages.flatMap(turnsOf)),
    tools: new Map(tools.map(({ name }) => [name, { takesText: false }])),
    side: isSide ? { shape: shape?.schema } : undefined,
  }
}

function turnsOf({ role, content }: z.infer<typeof Message>): Turn[] {
  if (role === 'assistant') return [{ role: 'model', text: contentText(content) }]
  // Claude Code puts system messages into the middle of a conversation.
  if (role !== 'user') return [{ role: 'other', text: '' }]
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return blocks.map((block) => ({
    role: block.type === 'tool_result' ? 'tool' : block.type === 'text' ? 'user' : 'other',
    text: contentText(block),
  }))
}
