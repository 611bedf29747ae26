import type { Conversation } from './conversation.ts'
import type { ScriptedCall, Step, StopReason, Usage } from './script.ts'

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
