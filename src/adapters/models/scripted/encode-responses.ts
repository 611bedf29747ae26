import type { Answer } from './answer.ts'
import { pieces } from './pieces.ts'
import type { Frame } from './protocol.ts'
import { type ResponseItem, responseItems } from './response-items.ts'

/** The answer as a response of the OpenAI Responses API. */
export function responsesBody(answer: Answer) {
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
export function responsesFrames(answer: Answer): Frame[] {
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
