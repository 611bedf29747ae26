import type * as z from 'zod'
import type { ModelRef, ModelStatus } from '../contract/model-status.ts'
import type { ModelFailureKind, Tokens } from '../contract/values.ts'

/** A tool call as a model makes it; `input` is what its JSON said, or nothing when it was no JSON. */
export type ModelCall = {
  readonly callId: string
  readonly tool: string
  readonly input: unknown
  /** The text of an input that could not be read. */
  readonly malformed?: string
}

/** A piece of what a model said; `opaque` is the provider's own and goes back to it unchanged. */
export type SaidPart = (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | ({ readonly kind: 'call' } & ModelCall)
) & { readonly opaque?: unknown }

/** What a tool answered. */
export type ToolAnswer = {
  readonly callId: string
  readonly tool: string
  readonly text: string
  readonly isError: boolean
}

/** One message of a conversation with a model. */
export type ModelMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly parts: readonly SaidPart[] }
  | { readonly role: 'tool'; readonly answers: readonly ToolAnswer[] }

/** A tool as a model is told of it. */
export type ToolOffer = {
  readonly name: string
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

/** One turn that a model is asked for. */
export type ModelRequest = {
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolOffer[]
  readonly maxOutputTokens?: number
}

/** What comes while a model speaks. */
export type ModelPiece =
  | { readonly kind: 'text' | 'thinking'; readonly delta: string }
  | { readonly kind: 'call'; readonly tool: string }

/** Why a model stopped. */
export type FinishReason = 'stop' | 'calls' | 'length' | 'refusal' | 'other'

/** A whole turn of a model. */
export type ModelTurn = {
  readonly responseId: string
  readonly parts: readonly SaidPart[]
  readonly usage: z.infer<typeof Tokens>
  readonly finish: FinishReason
}

/** A model call that failed, in one vocabulary for every provider. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure'
  readonly kind: ModelFailureKind
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined

  constructor(
    kind: ModelFailureKind,
    message: string,
    more: { status?: number | undefined; retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.kind = kind
    this.status = more.status
    this.retryAfterMs = more.retryAfterMs
  }

  /** Whether the same request may succeed a moment later. */
  get isPassing(): boolean {
    return passing.has(this.kind)
  }
}

const passing = new Set<ModelFailureKind>([
  'rate_limited',
  'overloaded',
  'server',
  'timeout',
  'network',
  'cut',
])

/** A model of some provider. One call is one turn: no retries, no tools run, nothing remembered. */
export type Model = {
  readonly provider: string
  readonly id: string
  /** Throws a ModelFailure, or the reason of the signal, which really ends the request. */
  readonly turn: (
    request: ModelRequest,
    options: { readonly signal: AbortSignal; readonly onPiece?: (piece: ModelPiece) => void },
  ) => Promise<ModelTurn>
}

/** The models that the configuration names. */
export type Models = {
  /** Every provider, and whether it can be used now; local ones are asked. */
  readonly list: (signal: AbortSignal) => Promise<readonly ModelStatus[]>
  /** Throws an AppError that says what to set when the provider has no key, or is none. */
  readonly open: (ref: ModelRef) => Promise<Model>
  readonly close: () => Promise<void>
}
