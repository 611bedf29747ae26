import { type Answer, fieldsOf } from './answer.ts'
import { pieces } from './pieces.ts'
import type { Frame } from './protocol.ts'
import type { StopReason } from './script.ts'

/** The answer as a response of the Gemini API. */
export function geminiResponse(answer: Answer) {
  return chunkOf(answer, [...thoughts(answer), ...words(answer), ...callsOf(answer)], finishReason(answer))
}

/** The same response as a stream: only its last chunk has the reason to stop. */
export function geminiFrames(answer: Answer): Frame[] {
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
