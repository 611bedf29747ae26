import * as z from 'zod'
import type { ScriptedCall, Step, StopReason, Usage } from './script.ts'

/** How one wire protocol of model providers is read and written. */
export type Protocol = {
  readonly name: string
  /** What a request asks for; undefined when it is none of this protocol. */
  endpoint(method: string, url: URL): Endpoint | undefined
  read(body: unknown, path: { model: string; isStream: boolean }): Conversation
  /** The whole answer in one body. */
  body(answer: Answer): object
  frames(answer: Answer): Frame[]
  /** The id by which the client knows the response. */
  responseId(answer: Answer): string
  /** What the protocol can say of an answer's tokens. */
  sentUsage(usage: Usage): Usage
  tokenCount(tokens: number): object
  /** The list of models, or one of them by any name: none is refused, since none is called. */
  models(name?: string): object
  failure(failure: Failure): object
}

/** What a request asks of a protocol. */
export type Endpoint =
  | { readonly kind: 'answer'; readonly model?: string; readonly stream?: Stream }
  | { readonly kind: 'count' | 'models'; readonly model?: string }

/** How a path says that it wants a stream, in protocols whose body does not. */
export type Stream = 'none' | 'events' | 'array'

/** One server-sent event. */
export type Frame = {
  readonly event?: string
  readonly data: unknown
  /** A piece of the answer itself; a slow stream waits after each. */
  readonly isPiece: boolean
}

/** A failure as a model provider tells it. */
export type Failure = {
  readonly status: number
  readonly message: string
  readonly retryAfterSec?: number | undefined
}

/** One entry of a conversation, as every protocol has it. `other` is what neither asks nor answers. */
export type Turn = { readonly role: 'user' | 'model' | 'tool' | 'other'; readonly text: string }

/** A tool as a request offers it. */
export type OfferedTool = { readonly namespace?: string; readonly takesText: boolean }

/** What the answer to a request depends on, whatever its protocol. */
export type Conversation = {
  readonly model: string
  readonly isStream: boolean
  readonly turns: readonly Turn[]
  readonly tools: ReadonlyMap<string, OfferedTool>
  /** Titles, quota probes and summaries: they get a neutral answer, of this shape if they ask for one. */
  readonly side: { readonly shape: unknown } | undefined
}

/** The shape of requests that want JSON and do not say which. */
export const anyObject = { type: 'object' }

/** A call as it is sent; a text is for a tool that takes free text. */
export type ToolCall = {
  readonly id: string | undefined
  readonly name: string
  readonly input: Record<string, unknown> | string
  readonly namespace: string | undefined
  readonly isBroken?: true
}

/** One answer of the model, before it is put into a protocol. */
export type Answer = {
  /** Lower-case hex, unique for each response. */
  readonly id: string
  readonly model: string
  readonly createdSec: number
  readonly thinking: string | undefined
  readonly text: string | undefined
  readonly calls: readonly ToolCall[]
  readonly stopReason: StopReason
  readonly usage: Usage
}

/** What an answer needs beside the step. */
export type AnswerContext = {
  readonly id: string
  readonly createdSec: number
  readonly conversation: Conversation
  /** The size of the request, from which tokens are estimated that the step does not give. */
  readonly requestChars: number
}

/** The answer that a step gives in a conversation. */
export function answerOf(step: Step, context: AnswerContext): Answer {
  const { conversation, id, createdSec } = context
  const calls = step.tools.map((call) => toolCall(call, conversation))
  const said = `${step.thinking ?? ''}${step.text ?? ''}${calls.length > 0 ? JSON.stringify(calls) : ''}`
  return {
    id,
    createdSec,
    model: conversation.model,
    thinking: step.thinking,
    text: step.text,
    calls,
    stopReason: step.stopReason ?? (calls.length > 0 ? 'tool_use' : 'end_turn'),
    usage: step.usage ?? {
      input: estimatedTokens(context.requestChars),
      output: estimatedTokens(said.length),
      cacheRead: 0,
      cacheWrite: 0,
      reasoning: 0,
    },
  }
}

/** A rough count that is the same every time. */
export const estimatedTokens = (chars: number): number => Math.ceil(chars / 4)

/** The fields of a call, in protocols whose tools take nothing else. */
export const fieldsOf = ({ input }: Pick<ToolCall, 'input'>): Record<string, unknown> =>
  typeof input === 'string' ? { input } : input

/** The fields as the text in which they are sent. */
export function fieldsText(call: ToolCall): string {
  const text = JSON.stringify(fieldsOf(call))
  return call.isBroken ? text.slice(0, -1) : text
}

function toolCall(call: ScriptedCall, { tools }: Conversation): ToolCall {
  const { id, name, input } = call
  const offered = tools.get(name)
  const takesText = offered?.takesText ?? typeof input === 'string'
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return {
    id,
    name,
    input: takesText ? text : fieldsOf({ input }),
    namespace: call.namespace ?? offered?.namespace,
    ...(call.broken && { isBroken: true }),
  }
}

/** Entries in a row that the model gave are one turn of it: thoughts, words and calls come apart in some protocols. */
export function joinModelTurns(turns: readonly Turn[]): Turn[] {
  return turns.filter((turn, index) => turn.role !== 'model' || turns[index - 1]?.role !== 'model')
}

/** The text in a message's content: a text, a block, or a list of them; blocks of other kinds give none. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(contentText).filter(Boolean).join('\n')
  if (typeof content !== 'object' || content === null) return ''
  const { text, content: inner } = content as { text?: unknown; content?: unknown }
  return typeof text === 'string' ? text : contentText(inner)
}

/** The text of each block by itself: prompts that were never answered are sent as blocks of one message. */
export function contentTexts(content: unknown): string[] {
  return Array.isArray(content) ? content.map(contentText).filter(Boolean) : [contentText(content)]
}

/** A list of foreign things: one that does not fit is left out, and does not take the others with it. */
export function looseList<T extends z.ZodType>(item: T) {
  return z
    .array(item.optional().catch(undefined))
    .catch([])
    .transform((list) => list.filter((one): one is Exclude<typeof one, undefined> => one !== undefined))
}

const pieceLength = 24

/** A text in the pieces in which it is streamed; no character is split. */
export function pieces(text: string): string[] {
  const chars = Array.from(text)
  return Array.from({ length: Math.ceil(chars.length / pieceLength) }, (_, i) =>
    chars.slice(i * pieceLength, (i + 1) * pieceLength).join(''),
  )
}
