import * as z from 'zod'
import {
  anthropicProtocol,
  errorType,
  modelsEndpoint,
} from '../../../src/adapters/models/scripted/anthropic-protocol.ts'
import {
  type Answer,
  anyObject,
  type Conversation,
  contentText,
  contentTexts,
  type Failure,
  type Frame,
  fieldsText,
  joinModelTurns,
  looseList,
  type Protocol,
  pieces,
  type Turn,
} from '../../../src/adapters/models/scripted/protocol.ts'
import type { StopReason } from '../../../src/adapters/models/scripted/script.ts'

/** The OpenAI Chat Completions API. */
export const chatProtocol: Protocol = {
  name: 'chat',
  endpoint(method, { pathname }) {
    if (method === 'GET') return modelsEndpoint(pathname)
    return method === 'POST' && pathname.endsWith('/chat/completions') ? { kind: 'answer' } : undefined
  },
  read: readChat,
  body: chatCompletion,
  frames: chatFrames,
  responseId: (answer) => chatCompletion(answer).id,
  sentUsage: (usage) => usage,
  tokenCount: (tokens) => ({ input_tokens: tokens }),
  // Clients of both companies read the same list.
  models: (name) => anthropicProtocol.models(name),
  failure: openAiFailure,
}

/** A failure as OpenAI tells it. */
export function openAiFailure({ status, message }: Failure): object {
  const code = status === 429 ? 'rate_limit_exceeded' : null
  return { error: { message, type: errorType(status), param: null, code } }
}

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
function readChat(body: unknown): Conversation {
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

/** The answer as a completion of the OpenAI Chat Completions API. */
function chatCompletion(answer: Answer) {
  const calls = callsOf(answer)
  const message = {
    role: 'assistant',
    content: answer.text ?? null,
    ...(answer.thinking !== undefined && { reasoning_content: answer.thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    ...headOf(answer),
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: finishReasons[answer.stopReason] }],
    usage: usageOf(answer),
  }
}

/** The same completion as a stream; its tokens are in the last chunk. */
function chatFrames(answer: Answer): Frame[] {
  const head = { ...headOf(answer), object: 'chat.completion.chunk' }
  const chunk = (delta: object, finish: string | null = null): Frame => ({
    data: { ...head, choices: [{ index: 0, delta, finish_reason: finish }] },
    isPiece: finish === null,
  })
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(answer.thinking ?? '').map((reasoning_content) => chunk({ reasoning_content })),
    ...pieces(answer.text ?? '').map((content) => chunk({ content })),
    ...callsOf(answer).flatMap((call, index) => [
      chunk({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: '' } }] }),
      ...pieces(call.function.arguments).map((text) =>
        chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
      ),
    ]),
    chunk({}, finishReasons[answer.stopReason]),
    { data: { ...head, choices: [], usage: usageOf(answer) }, isPiece: false },
    { data: '[DONE]', isPiece: false },
  ]
}

const headOf = ({ id, createdSec, model }: Answer) => ({ id: `chatcmpl-${id}`, created: createdSec, model })

const callsOf = ({ id, calls }: Answer) =>
  calls.map((call, index) => ({
    id: call.id ?? `call_${id}_${index}`,
    type: 'function',
    function: { name: call.name, arguments: fieldsText(call) },
  }))

const finishReasons: Record<StopReason, string> = {
  end_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  refusal: 'content_filter',
}

/** The prompt's count holds what came from the cache, and the completion's what was reasoned. */
function usageOf({ usage }: Answer) {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
}
