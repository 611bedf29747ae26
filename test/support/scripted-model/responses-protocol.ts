import * as z from 'zod'
import { anthropicProtocol } from '../../../src/adapters/models/scripted/anthropic-protocol.ts'
import {
  type Answer,
  anyObject,
  type Conversation,
  contentText,
  contentTexts,
  type Frame,
  fieldsText,
  joinModelTurns,
  looseList,
  type OfferedTool,
  type Protocol,
  pieces,
  type ToolCall,
  type Turn,
} from '../../../src/adapters/models/scripted/protocol.ts'
import { openAiFailure } from './chat-protocol.ts'

/** The OpenAI Responses API. */
export const responsesProtocol: Protocol = {
  name: 'responses',
  endpoint: (method, { pathname }) =>
    method === 'POST' && pathname.endsWith('/responses') ? { kind: 'answer' } : undefined,
  read: readResponses,
  body: responsesBody,
  frames: responsesFrames,
  responseId: (answer) => responsesBody(answer).id,
  sentUsage: (usage) => usage,
  tokenCount: (tokens) => ({ input_tokens: tokens }),
  models: (name) => anthropicProtocol.models(name),
  failure: openAiFailure,
}

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
function readResponses(body: unknown): Conversation {
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

/** The answer as a response of the OpenAI Responses API. */
function responsesBody(answer: Answer) {
  const cut = answer.stopReason === 'max_tokens' ? 'max_output_tokens' : 'content_filter'
  const isCut = answer.stopReason === 'max_tokens' || answer.stopReason === 'refusal'
  return {
    ...headOf(answer),
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: cut } : null,
    output: responseItems(answer),
    usage: usageOf(answer),
  }
}

/** The same response as a stream. */
function responsesFrames(answer: Answer): Frame[] {
  const body = responsesBody(answer)
  const begun = { ...headOf(answer), status: 'in_progress', output: [] }
  const events: Event[] = [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
    ...body.output.flatMap(itemEvents),
    [`response.${body.status}`, { response: body }],
  ]
  return events.map(([type, fields], sequence_number) => ({
    event: type,
    data: { type, sequence_number, ...fields },
    isPiece: type.endsWith('.delta'),
  }))
}

type Event = readonly [type: string, fields: object]

function itemEvents(item: ResponseItem, output_index: number): Event[] {
  const at = { item_id: item.id, output_index }
  const { opened, inside } = insideOf(item)
  return [
    ['response.output_item.added', { output_index, item: opened }],
    ...inside.map(([type, fields]): Event => [`response.${type}`, { ...at, ...fields }]),
    ['response.output_item.done', { output_index, item }],
  ]
}

function insideOf(item: ResponseItem): { opened: object; inside: Event[] } {
  switch (item.type) {
    case 'reasoning': {
      const { text } = item.summary[0]
      const part = { summary_index: 0 }
      return {
        opened: { ...item, summary: [] },
        inside: [
          ['reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } }],
          ...pieces(text).map((delta): Event => ['reasoning_summary_text.delta', { ...part, delta }]),
          ['reasoning_summary_text.done', { ...part, text }],
          ['reasoning_summary_part.done', { ...part, part: item.summary[0] }],
        ],
      }
    }
    case 'message': {
      const { text } = item.content[0]
      const part = { content_index: 0 }
      return {
        opened: { ...item, status: 'in_progress', content: [] },
        inside: [
          ['content_part.added', { ...part, part: { ...item.content[0], text: '' } }],
          ...pieces(text).map((delta): Event => ['output_text.delta', { ...part, delta }]),
          ['output_text.done', { ...part, text }],
          ['content_part.done', { ...part, part: item.content[0] }],
        ],
      }
    }
    case 'function_call':
      return {
        opened: { ...item, status: 'in_progress', arguments: '' },
        inside: [
          ...pieces(item.arguments).map((delta): Event => ['function_call_arguments.delta', { delta }]),
          ['function_call_arguments.done', { arguments: item.arguments }],
        ],
      }
    case 'custom_tool_call':
      return {
        opened: { ...item, status: 'in_progress', input: '' },
        inside: [
          ...pieces(item.input).map((delta): Event => ['custom_tool_call_input.delta', { delta }]),
          ['custom_tool_call_input.done', { input: item.input }],
        ],
      }
  }
}

const headOf = ({ id, createdSec, model }: Answer) => ({
  id: `resp_${id}`,
  object: 'response',
  created_at: createdSec,
  model,
  error: null,
})

function usageOf({ usage }: Answer) {
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  }
}

/** What the output of a response consists of. */
type ResponseItem =
  | { id: string; type: 'reasoning'; summary: [{ type: 'summary_text'; text: string }] }
  | {
      id: string
      type: 'message'
      role: 'assistant'
      status: 'completed'
      content: [{ type: 'output_text'; text: string; annotations: never[] }]
    }
  | (CallHead & { type: 'function_call'; namespace?: string; arguments: string })
  | (CallHead & { type: 'custom_tool_call'; namespace?: string; input: string })

type CallHead = { id: string; status: 'completed'; call_id: string; name: string }

/** The answer as items: thoughts, words and calls are apart. */
function responseItems({ id, thinking, text, calls }: Answer): ResponseItem[] {
  const items: ResponseItem[] = []
  if (thinking)
    items.push({ id: `rs_${id}`, type: 'reasoning', summary: [{ type: 'summary_text', text: thinking }] })
  if (text)
    items.push({
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    })
  return [...items, ...calls.map((call, index) => callItem(call, `${id}_${index}`))]
}

function callItem(call: ToolCall, id: string): ResponseItem {
  const { input, name } = call
  const head = { status: 'completed', call_id: call.id ?? `call_${id}`, name } as const
  const namespace = call.namespace === undefined ? {} : { namespace: call.namespace }
  if (typeof input === 'string')
    return { id: `ctc_${id}`, type: 'custom_tool_call', ...head, ...namespace, input }
  return { id: `fc_${id}`, type: 'function_call', ...head, ...namespace, arguments: fieldsText(call) }
}
