import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelProtocol } from '../../../contract/config/model-settings.ts'
import { linked } from '../../../contract/linked.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type Model, ModelFailure, type ModelRequest, type ModelTurn } from '../../../ports/model.ts'
import { failureOf } from './failure.ts'
import { promptOf, toolsOf } from './prompt.ts'
import { readTurn } from './read-stream.ts'
import { ToldBefore } from './told-before.ts'

/** How a model is reached. */
export type ModelEndpoint = {
  /** The provider as configured, for the ledger. */
  readonly provider: string
  readonly protocol: ModelProtocol
  readonly id: string
  /** The provider's own address when it is left out. */
  readonly baseUrl?: string
  readonly apiKey?: string
  /** Longest silence: before the first piece, and between two. */
  readonly timeoutMs: number
  readonly clock: Clock
}

/** A model behind a provider of the AI SDK. */
export function sdkModel(endpoint: ModelEndpoint): Model {
  const told = new ToldBefore(endpoint.protocol, (url, init) => fetch(url, init))
  return {
    provider: endpoint.provider,
    id: endpoint.id,
    async turn(request, { signal, onPiece = () => {} }) {
      signal.throwIfAborted()
      using watch = silenceWatch(endpoint, signal)
      try {
        const retold = told.retell(request.messages)
        return await ask(languageModel(endpoint, retold.fetch), {
          ...request,
          messages: retold.messages,
          signal: watch.signal,
          onPiece: (piece) => {
            watch.heard()
            onPiece(piece)
          },
        })
      } catch (error) {
        // An abort has many faces in the SDK; whose it was is known here.
        if (signal.aborted) throw signal.reason
        if (watch.isLate())
          throw new ModelFailure('timeout', `the model was silent for ${endpoint.timeoutMs / 1000} s`)
        throw failureOf(error)
      }
    },
  }
}

type Asking = ModelRequest & Required<Parameters<Model['turn']>[1]>

async function ask(
  model: LanguageModelV4,
  { messages, tools, maxOutputTokens, signal, onPiece }: Asking,
): Promise<ModelTurn> {
  const { stream } = await model.doStream({
    prompt: promptOf(messages),
    abortSignal: signal,
    ...(tools.length > 0 && { tools: toolsOf(tools), toolChoice: { type: 'auto' } }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  })
  return readTurn(stream, onPiece)
}

/** Ends a request in which nothing was heard for too long. */
function silenceWatch({ clock, timeoutMs }: ModelEndpoint, outer: AbortSignal) {
  const request = linked(outer)
  let heardAt = clock.monotonic()
  let late = false
  // Pieces may come by the thousand: they only say when, and one timer looks at that.
  const watch = async () => {
    for (let leftMs = timeoutMs; leftMs > 0; leftMs = heardAt + timeoutMs - clock.monotonic())
      await clock.sleep(leftMs, request.signal)
    late = true
    request.abort()
  }
  watch().catch(() => {})
  return {
    signal: request.signal,
    heard: () => {
      heardAt = clock.monotonic()
    },
    isLate: () => late,
    [Symbol.dispose]: () => request[Symbol.dispose](),
  }
}

function languageModel(
  { protocol, provider, id, baseUrl, apiKey = '' }: ModelEndpoint,
  fetch: typeof globalThis.fetch,
): LanguageModelV4 {
  const where = { apiKey, fetch, ...(baseUrl !== undefined && { baseURL: baseUrl }) }
  switch (protocol) {
    case 'anthropic':
      return createAnthropic(where)(id)
    case 'openai':
      return createOpenAI(where).responses(id)
    case 'google':
      return createGoogleGenerativeAI(where)(id)
    case 'compatible':
      return createOpenAICompatible({ name: provider, ...where, baseURL: baseUrl ?? '', includeUsage: true })(
        id,
      )
  }
}
