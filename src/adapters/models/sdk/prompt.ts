import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { ModelMessage, SaidPart, ToolOffer } from '../../../ports/model.ts'

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']

/** A conversation in the words of the SDK. */
export const promptOf = (messages: readonly ModelMessage[]): LanguageModelV4Message[] =>
  messages.map(messageOf)

function messageOf(message: ModelMessage): LanguageModelV4Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text }
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] }
    case 'assistant':
      return { role: 'assistant', content: spoken(message.parts).map(partOf) }
    case 'tool':
      return {
        role: 'tool',
        content: message.answers.map(({ callId, tool, text, isError }) => ({
          type: 'tool-result',
          toolCallId: callId,
          toolName: tool,
          output: { type: isError ? 'error-text' : 'text', value: text },
        })),
      }
  }
}

/** Providers refuse a conversation with an answer in which nothing is said, or that ends in a thought. */
function spoken(parts: readonly SaidPart[]): readonly SaidPart[] {
  const isSaid = (part: SaidPart) => part.kind === 'call' || (part.kind === 'text' && part.text.trim() !== '')
  if (parts.some(isSaid)) return parts
  return [...parts.filter(({ kind }) => kind === 'thinking'), { kind: 'text', text: '(no answer)' }]
}

export const toolsOf = (tools: readonly ToolOffer[]): LanguageModelV4FunctionTool[] =>
  tools.map(({ name, description, schema }) => ({
    type: 'function',
    name,
    description,
    inputSchema: schema as LanguageModelV4FunctionTool['inputSchema'],
  }))

function partOf(part: SaidPart): AssistantContent[number] {
  // Signatures of thoughts and of calls: a provider refuses a conversation in which they were lost.
  const own =
    part.opaque === undefined ? undefined : { providerOptions: part.opaque as SharedV4ProviderOptions }
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text, ...own }
    case 'thinking':
      return { type: 'reasoning', text: part.text, ...own }
    case 'call':
      return {
        type: 'tool-call',
        toolCallId: part.callId,
        toolName: part.tool,
        // A call that could not be read is still told back, or its answer would have nothing to answer.
        input: part.malformed === undefined ? part.input : {},
        ...own,
      }
  }
}
