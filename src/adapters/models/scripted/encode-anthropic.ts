import { type Answer, fieldsOf, fieldsText } from './answer.ts'
import { pieces } from './pieces.ts'
import type { Frame } from './protocol.ts'

/** The answer as a message of the Anthropic Messages API. */
export function anthropicMessage(answer: Answer) {
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
export function anthropicFrames(answer: Answer): Frame[] {
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
