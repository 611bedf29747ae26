import * as z from 'zod'
import { contentText, contentTexts } from './content-text.ts'
import { anyObject, type Conversation, type OfferedTool } from './conversation.ts'
import { looseList } from './loose-list.ts'
import { joinModelTurns, type Turn } from './turn.ts'

const Item = z.looseObject({
  type: z.string().catch('message'),
  role: z.string().optional().catch(undefined),
  content: z.unknown().optional(),
  output: z.unknown().optional(),
})
const Tool = z.looseObject({ type: z.string().catch('function'), name: z.string().catch('') })
const Group = Tool.extend({ tools: looseList(Tool) })
const Request = z.looseObject({
  model: z.string().catch('scripted'),
  stream: z.boolean().catch(false),
  input: z.union([z.string(), looseList(Item)]),
  tools: looseList(Group),
  text: z
    .looseObject({
      format: z.looseObject({ type: z.string(), schema: z.unknown().optional() }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
})

/** Reads a request of the OpenAI Responses API. */
export function readResponses(body: unknown): Conversation {
  const { model, stream, input, tools, text } = Request.parse(body)
  const items = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input
  const isShaped = text?.format !== undefined && text.format.type !== 'text'
  const isSide = isShaped || tools.length === 0
  return {
    model,
    isStream: stream,
    turns: joinModelTurns(items.flatMap((item) => turnsOf(item as z.infer<typeof Item>))),
    tools: new Map(tools.flatMap(offered)),
    side: isSide ? { shape: isShaped ? (text.format?.schema ?? anyObject) : undefined } : undefined,
  }
}

function turnsOf({ type, role, content, output }: z.infer<typeof Item>): Turn[] {
  if (type.endsWith('_output')) return [{ role: 'tool', text: contentText(output) }]
  const isModel = role === 'assistant' || type === 'reasoning' || type.endsWith('_call')
  if (isModel) return [{ role: 'model', text: contentText(content) }]
  if (role !== 'user') return [{ role: 'other', text: '' }]
  return contentTexts(content).map((text) => ({ role: 'user', text }))
}

/** A call to a tool of a group is only understood together with the group's name. */
function offered(tool: z.infer<typeof Group>): [string, OfferedTool][] {
  if (tool.type !== 'namespace') return [[tool.name, { takesText: tool.type === 'custom' }]]
  return tool.tools.map(({ name, type }) => [name, { namespace: tool.name, takesText: type === 'custom' }])
}
