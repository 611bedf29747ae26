import { createHash } from 'node:crypto'
import { answerOf } from './answer.ts'
import { chooseAnswer } from './choose-answer.ts'
import { codecs } from './codecs.ts'
import { type Exchange, fail, type Responder, send } from './exchange.ts'
import type { Endpoint } from './find-endpoint.ts'
import { sentUsage } from './protocol.ts'
import { sendFrames } from './send.ts'

/** Answers a request for the model's next turn. */
export async function answerRequest(
  endpoint: Extract<Endpoint, { kind: 'answer' }>,
  exchange: Exchange,
  responder: Responder,
): Promise<void> {
  const { protocol, model = 'scripted', stream = 'none' } = endpoint
  const { text, record, signal } = exchange
  const body = parsed(text)
  if (body === undefined) {
    record.answered = 'refused'
    return fail(exchange, protocol, { status: 400, message: 'scripted model: the body is no JSON object' })
  }
  const codec = codecs[protocol]
  const conversation = codec.read(body, { model, isStream: stream !== 'none' })
  const { answered, at, step, failure } = chooseAnswer(conversation, responder)
  const { isStream } = conversation
  Object.assign(record, { answered, isStream, model: conversation.model })
  if (at !== undefined) Object.assign(record, { script: at.key, step: at.index })

  if (step.delayMs !== undefined) await responder.clock.sleep(step.delayMs, signal)
  if (failure !== undefined) return fail(exchange, protocol, failure)
  if (answered === 'hang') return await untilGone(signal)

  const answer = answerOf(step, {
    id: responseHash(responder.seed, record.n),
    createdSec: Math.floor(responder.clock.now() / 1000),
    conversation,
    requestChars: text.length,
  })
  record.responseId = codec.responseId(answer)
  record.usage = sentUsage(protocol, answer.usage)
  if (answer.calls.length > 0) record.tools = answer.calls.map(({ name }) => name)

  if (!isStream) return send(exchange, codec.body(answer))
  const frames = codec.frames(answer)
  if (stream === 'array')
    return send(
      exchange,
      frames.map(({ data }) => data),
    )
  record.status = 200
  const { clock } = responder
  await sendFrames(exchange.response, frames, { chunkMs: step.chunkMs ?? 0, isCut: step.cut, clock, signal })
  record.isSent = true
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const responseHash = (seed: string, n: number): string =>
  createHash('sha256').update(`${seed} ${n}`).digest('hex').slice(0, 24)

function untilGone(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
