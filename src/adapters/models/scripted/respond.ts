import { estimatedTokens } from './answer.ts'
import { answerRequest } from './answer-request.ts'
import { type Exchange, fail, type Responder, send } from './exchange.ts'
import type { Endpoint } from './find-endpoint.ts'
import { geminiModelEntry, geminiModelsList, modelEntry, modelsList } from './models-list.ts'
import type { Protocol } from './protocol.ts'

/** Answers one request. */
export async function respond(
  endpoint: Exclude<Endpoint, { kind: 'requests' }>,
  exchange: Exchange,
  responder: Responder,
): Promise<void> {
  const { record, text } = exchange
  if ('protocol' in endpoint) record.protocol = endpoint.protocol
  if (endpoint.kind !== 'answer') record.answered = endpoint.kind
  switch (endpoint.kind) {
    case 'answer':
      return await answerRequest(endpoint, exchange, responder)
    case 'count': {
      const count = estimatedTokens(text.length)
      return send(exchange, endpoint.protocol === 'gemini' ? { totalTokens: count } : { input_tokens: count })
    }
    case 'models':
      return send(exchange, modelsFor(endpoint))
    case 'hello':
      return send(exchange, { message: 'hello', server: 'muster-scripted-model' })
    case 'unknown':
      return fail(exchange, 'anthropic', {
        status: 404,
        message: `scripted model: nothing at ${record.path}`,
      })
  }
}

function modelsFor({ protocol, model }: { protocol: Protocol; model?: string }): object {
  if (protocol === 'gemini') return model === undefined ? geminiModelsList() : geminiModelEntry(model)
  return model === undefined ? modelsList() : modelEntry(model)
}
