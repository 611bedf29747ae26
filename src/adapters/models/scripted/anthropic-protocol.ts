import * as z from 'zod'
import {
  type Answer,
  type Conversation,
  contentText,
  type Endpoint,
  type Frame,
  fieldsOf,
  fieldsText,
  joinModelTurns,
  looseList,
  type Protocol,
  pieces,
  type Turn,
} from './protocol.ts'

/** The Anthropic Messages API. */
export const anthropicProtocol: Protocol = {
  name: 'anthropic',
  endpoint(method, { pathname }) {
    if (method === 'GET') return modelsEndpoint(pathname)
    if (method !== 'POST') return undefined
    if (pathname.endsWith('/messages/count_tokens')) return { kind: 'count' }
    return pathname.endsWith('/messages') ? { kind: 'answer' } : undefined
  },
  read: readAnthropic,
  body: anthropicMessage,
  frames: anthropicFrames,
  responseId: (answer) => anthropicMessage(answer).id,
  sentUsage: (usage) => usage,
  tokenCount: (tokens) => ({ input_tokens: tokens }),
  models: (name) => (name === undefined ? modelsList() : modelEntry(name)),
  failure: ({ status, message }) => ({ type: 'error', error: { type: errorType(status), message } }),
}

/** A request for the list of models, or for one of them. */
export function modelsEndpoint(path: string): Endpoint | undefined {
  const models = /\/models(?:\/([^/]+))?$/.exec(path)
  return models === null
    ? undefined
    : { kind: 'models', ...(models[1] !== undefined && { model: models[1] }) }
}

const RequestBlock = z.looseObject({ type: z.string().catch('text') })
const Message = z.looseObject({
  role: z.string().catch('user'),
  content: z.union([z.string(), looseList(RequestBlock)]),
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
function readAnthropic(body: unknown): Conversation {
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

/** The answer as a message of the Anthropic Messages API. */
function anthropicMessage(answer: Answer) {
  return {
    id: `msg_${answer.id}`,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: blocksOf(answer),
    stop_reason: answer.stopReason,
    stop_sequence: null,
    usage: usageOf(answer),
  }
}

/** The same message as a stream. */
function anthropicFrames(answer: Answer): Frame[] {
  const { content, stop_reason, stop_sequence, usage, ...message } = anthropicMessage(answer)
  const start = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence,
    // At the start the output is not known yet; readers must take the count of the last event.
    usage: { ...usage, output_tokens: Math.min(1, usage.output_tokens) },
  }
  // Calls come last, each with its input as text.
  const inputs = answer.calls.map(fieldsText)
  const spoken = content.length - inputs.length
  return [
    frame('message_start', { message: start }),
    frame('ping', {}),
    ...content.flatMap((block, index) => blockFrames(block, index, inputs[index - spoken] ?? '')),
    frame('message_delta', { delta: { stop_reason, stop_sequence }, usage }),
    frame('message_stop', {}),
  ]
}

type Block =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> }

function blocksOf({ id, thinking, text, calls }: Answer): Block[] {
  return [
    ...(thinking ? [{ type: 'thinking', thinking, signature: 'c2NyaXB0ZWQ=' } as const] : []),
    ...(text ? [{ type: 'text', text } as const] : []),
    ...calls.map(
      (call, index): Block => ({
        type: 'tool_use',
        id: call.id ?? `toolu_${id}_${index}`,
        name: call.name,
        input: fieldsOf(call),
      }),
    ),
  ]
}

function blockFrames(block: Block, index: number, input: string): Frame[] {
  const delta = (fields: object) => frame('content_block_delta', { index, delta: fields }, true)
  const { opened, deltas } = blockParts(block, input)
  return [
    frame('content_block_start', { index, content_block: opened }),
    ...deltas.map(delta),
    frame('content_block_stop', { index }),
  ]
}

function blockParts(block: Block, input: string): { opened: object; deltas: object[] } {
  switch (block.type) {
    case 'thinking':
      return {
        opened: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...pieces(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature },
        ],
      }
    case 'text':
      return {
        opened: { type: 'text', text: '' },
        deltas: pieces(block.text).map((text) => ({ type: 'text_delta', text })),
      }
    case 'tool_use':
      return {
        opened: { ...block, input: {} },
        deltas: pieces(input).map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      }
  }
}

function usageOf({ usage }: Answer) {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
    service_tier: 'standard',
  }
}

const frame = (event: string, fields: object, isPiece = false): Frame => ({
  event,
  data: { type: event, ...fields },
  isPiece,
})

const names = ['scripted', 'claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'gpt-5.1-codex']

/** The list of models, in a shape that both Anthropic's and OpenAI's clients read. */
const modelsList = () => ({
  object: 'list',
  data: names.map(modelEntry),
  has_more: false,
  first_id: names[0],
  last_id: names.at(-1),
})

const modelEntry = (id: string) => ({
  id,
  object: 'model',
  type: 'model',
  display_name: id,
  owned_by: 'muster',
  created: 0,
  created_at: '2026-01-01T00:00:00Z',
})

/** How Anthropic and OpenAI name a failure. */
export const errorType = (status: number): string =>
  errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}
