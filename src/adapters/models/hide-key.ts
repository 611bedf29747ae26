import { type Model, ModelFailure } from '../../ports/model.ts'

/** Shorter ones are no secrets but words such as `none`, and would be cut out of every sentence. */
const shortestKey = 8

/** A model whose failures never show its key: some endpoints and libraries repeat what they were sent. */
export function hideKey(model: Model, key: string): Model {
  const hidden = (text: string) => (key.length < shortestKey ? text : text.replaceAll(key, '[key]'))
  return {
    ...model,
    turn: (request, options) =>
      model.turn(request, options).catch((error: unknown) => {
        if (!(error instanceof ModelFailure)) throw error
        const { kind, message, status, retryAfterMs } = error
        // Without its cause, which carries the whole answer of the endpoint.
        throw new ModelFailure(kind, hidden(message), { status, retryAfterMs })
      }),
  }
}
