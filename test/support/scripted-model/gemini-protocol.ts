import * as z from 'zod'
import { modelsEndpoint } from '../../../src/adapters/models/scripted/anthropic-protocol.ts'
import {
  type Answer,
  anyObject,
  type Conversation,
  type Endpoint,
  type Failure,
  type Frame,
  fieldsOf,
  joinModelTurns,
  looseList,
  type Protocol,
  pieces,
  type Turn,
} from '../../../src/adapters/models/scripted/protocol.ts'
import type { StopReason } from '../../../src/adapters/models/scripted/script.ts'

/** The Gemini API. */
export const geminiProtocol: Protocol = {
  name: 'gemini',
  endpoint,
  read: readGemini,
  body: geminiResponse,
  frames: geminiFrames,
  responseId: (answer) => geminiResponse(answer).responseId,
  // It has no word for what was written to the cache.
  sentUsage: (usage) => ({ ...usage, input: usage.input + usage.cacheWrite, cacheWrite: 0 }),
  tokenCount: (tokens) => ({ totalTokens: tokens }),
  models: (name) =>
    name === undefined ? { models: geminiNames.map(geminiModelEntry) } : geminiModelEntry(name),
  failure,
}

function endpoint(method: string, { pathname, searchParams }: URL): Endpoint | undefined {
  if (method === 'GET') return pathname.startsWith('/v1beta/') ? modelsEndpoint(pathname) : undefined
  const [, model, verb] = (method === 'POST' && /\/models\/([^/:]+):(\w+)$/.exec(pathname)) || []
  const named = model === undefined ? {} : { model }
  if (verb === 'countTokens') return { kind: 'count', ...named }
  if (verb === 'generateContent') return { kind: 'answer', ...named, stream: 'none' }
  if (verb === 'streamGenerateContent')
    return { kind: 'answer', ...named, stream: searchParams.get('alt') === 'sse' ? 'events' : 'array' }
  return undefined
}

function failure({ status, message, retryAfterSec }: Failure): object {
  const hint = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSec}s` }
  const details = retryAfterSec === undefined ? [] : [hint]
  return { error: { code: status, message, status: googleStatus[status] ?? 'INTERNAL', details } }
}

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
function readGemini(body: unknown, path: { model: string; isStream: boolean }): Conversation {
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

/** The answer as a response of the Gemini API. */
function geminiResponse(answer: Answer) {
  return chunkOf(answer, [...thoughts(answer), ...words(answer), ...callsOf(answer)], finishReason(answer))
}

/** The same response as a stream: only its last chunk has the reason to stop. */
function geminiFrames(answer: Answer): Frame[] {
  const spoken = [
    ...pieces(answer.thinking ?? '').map((text) => ({ text, thought: true })),
    ...pieces(answer.text ?? '').map((text) => ({ text })),
  ]
  const last = callsOf(answer)
  return [
    ...spoken.map((part) => ({ data: chunkOf(answer, [part]), isPiece: true })),
    {
      data: chunkOf(answer, last.length > 0 ? last : [{ text: '' }], finishReason(answer)),
      isPiece: false,
    },
  ]
}

const thoughts = ({ thinking }: Answer) => (thinking ? [{ text: thinking, thought: true }] : [])
const words = ({ text }: Answer) => (text ? [{ text }] : [])

/** Calls are checked before they are sent here: one that is no JSON ends the answer, and none is sent. */
const isMalformed = ({ calls }: Answer) => calls.some(({ isBroken }) => isBroken)
const finishReason = (answer: Answer) =>
  isMalformed(answer) ? 'MALFORMED_FUNCTION_CALL' : finishReasons[answer.stopReason]

const callsOf = (answer: Answer) =>
  (isMalformed(answer) ? [] : answer.calls).map((call, index) => ({
    functionCall: { id: call.id ?? `call_${answer.id}_${index}`, name: call.name, args: fieldsOf(call) },
  }))

function chunkOf(answer: Answer, parts: readonly object[], finishReason?: string) {
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
    usageMetadata: usageOf(answer),
    modelVersion: answer.model,
    responseId: answer.id,
  }
}

const finishReasons: Record<StopReason, string> = {
  end_turn: 'STOP',
  tool_use: 'STOP',
  max_tokens: 'MAX_TOKENS',
  refusal: 'SAFETY',
}

/** Thoughts are counted beside the candidates here, and the cache inside the prompt. */
function usageOf({ usage }: Answer) {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    promptTokenCount: prompt,
    cachedContentTokenCount: usage.cacheRead,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    totalTokenCount: prompt + usage.output,
  }
}

const geminiNames = ['scripted', 'gemini-2.5-pro', 'gemini-2.5-flash']

const geminiModelEntry = (id: string) => ({
  name: `models/${id}`,
  displayName: id,
  inputTokenLimit: 1_000_000,
  outputTokenLimit: 64_000,
  supportedGenerationMethods: ['generateContent', 'countTokens'],
})

const googleStatus: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  529: 'UNAVAILABLE',
}
