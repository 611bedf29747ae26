import type { SpanId } from '../contract/ids.ts'
import type { PriceBook } from '../core/ledger/price-book.ts'
import { type RetryPolicy, retryDelay } from '../core/model/retry-delay.ts'
import { draftOf, type Root } from '../engine/sessions/drafts.ts'
import type { Clock } from '../ports/clock.ts'
import {
  type Model,
  ModelFailure,
  type ModelMessage,
  type ModelPiece,
  type ModelRequest,
  type ModelTurn,
} from '../ports/model.ts'
import type { Facts } from './recorder.ts'

/** What asking a model needs beside the model. */
export type AskDeps = {
  readonly clock: Clock
  readonly newSpan: () => SpanId
  readonly record: (facts: Facts) => void
  /** Keeps a value that a resumed or replayed run needs as it was; answers its name. */
  readonly keep: (value: unknown) => Promise<string>
  /** A number from 0 up to 1. */
  readonly chance: () => number
  readonly retry: RetryPolicy
  readonly prices: Pick<PriceBook, 'estimate'>
}

/** One turn to ask for: of the first model, and of the next ones only when it cannot be had. */
export type Asking = {
  readonly root: Root
  readonly models: readonly [Model, ...Model[]]
  readonly request: ModelRequest
  /** What the conversation gained since the last turn; kept together with this one. */
  readonly gained?: readonly ModelMessage[]
  readonly signal: AbortSignal
  readonly onPiece: (piece: ModelPiece) => void
}

/** A turn, and which model gave it. */
export type Asked = { readonly turn: ModelTurn; readonly model: Model }

/** Gets one turn out of a model; every attempt, every wait and every change of model is recorded. */
export async function askModel(deps: AskDeps, asking: Asking): Promise<Asked> {
  const { models, root } = asking
  for (const [i, model] of models.entries()) {
    try {
      return { model, turn: await askPatiently(deps, asking, model) }
    } catch (error) {
      const next = models[i + 1]
      if (!(error instanceof ModelFailure) || error.kind === 'context_length' || !next) throw error
      deps.record([
        draftOf(root, 'decision.made', {
          subject: 'model',
          candidates: models.slice(i + 1).map(nameOf),
          choice: nameOf(next),
          reason: `${nameOf(model)}: ${error.message}`,
        }),
      ])
    }
  }
  throw new Error('a turn was requested without a model')
}

const nameOf = ({ provider, id }: Model): string => `${provider}/${id}`

async function askPatiently(deps: AskDeps, asking: Asking, model: Model): Promise<ModelTurn> {
  const { clock, retry } = deps
  for (let attempt = 1; ; attempt++) {
    try {
      return await askOnce(deps, asking, { model, attempt })
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error
      const { isPassing, retryAfterMs, message } = error
      const delayMs = retryDelay({ attempt, isPassing, retryAfterMs }, retry, deps.chance())
      if (delayMs === undefined) throw error
      deps.record([
        draftOf(asking.root, 'retry.scheduled', {
          what: nameOf(model),
          attempt: attempt + 1,
          maxAttempts: retry.maxAttempts,
          delayMs,
          reason: message,
        }),
      ])
      await clock.sleep(delayMs, asking.signal)
    }
  }
}

async function askOnce(
  { clock, newSpan, record, keep, prices }: AskDeps,
  { root, request, gained, signal, onPiece }: Asking,
  { model, attempt }: { model: Model; attempt: number },
): Promise<ModelTurn> {
  const at = { ...root, spanId: newSpan(), parentSpanId: root.spanId }
  const who = { provider: model.provider, model: model.id }
  const startedAt = clock.monotonic()
  const durationMs = () => Math.round(clock.monotonic() - startedAt)
  record([draftOf(at, 'llm.request.started', { ...who, attempt, messages: request.messages.length })])
  try {
    const turn = await model.turn(request, { signal, onPiece })
    const completed = {
      ...who,
      responseId: turn.responseId === '' ? `${at.spanId}` : turn.responseId,
      usage: turn.usage,
      ...prices.estimate(model.id, turn.usage),
      ...(model.provider !== 'scripted' && { billing: 'api' as const }),
      durationMs: durationMs(),
      finishReason: turn.finish,
      source: 'runtime',
    } as const
    const said = { role: 'assistant', parts: turn.parts } as const
    record(
      gained
        ? async () => [
            draftOf(at, 'llm.request.completed', { ...completed, vault: await keep([...gained, said]) }),
          ]
        : [draftOf(at, 'llm.request.completed', completed)],
    )
    return turn
  } catch (error) {
    const failure = error instanceof ModelFailure ? error : undefined
    record([
      draftOf(at, 'llm.request.failed', {
        ...who,
        error: failure?.message ?? (signal.aborted ? 'cancelled' : String(error)),
        durationMs: durationMs(),
        ...(failure && { kind: failure.kind }),
        ...(failure?.status !== undefined && { status: failure.status }),
        ...(failure?.retryAfterMs !== undefined && { retryAfterMs: failure.retryAfterMs }),
      }),
    ])
    throw error
  }
}
