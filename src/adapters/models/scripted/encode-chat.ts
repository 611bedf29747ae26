import { type Answer, fieldsText } from './answer.ts'
import { pieces } from './pieces.ts'
import type { Frame } from './protocol.ts'
import type { StopReason } from './script.ts'

/** The answer as a completion of the OpenAI Chat Completions API. */
export function chatCompletion(answer: Answer) {
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
export function chatFrames(answer: Answer): Frame[] {
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
