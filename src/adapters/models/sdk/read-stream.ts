import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import {
  type FinishReason,
  ModelFailure,
  type ModelPiece,
  type ModelTurn,
  type SaidPart,
} from '../../../ports/model.ts'
import { failureOf } from './failure.ts'

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>
type Spoken = { readonly kind: 'text' | 'thinking'; text: string; opaque?: unknown }

const reasons: Readonly<Record<Finish['finishReason']['unified'], FinishReason>> = {
  stop: 'stop',
  'tool-calls': 'calls',
  length: 'length',
  'content-filter': 'refusal',
  error: 'other',
  interrupted: 'other',
  other: 'other',
}

/** Gathers a streamed answer; a stream that ends before its end is a failure, never a short answer. */
export async function readTurn(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  onPiece: (piece: ModelPiece) => void,
): Promise<ModelTurn> {
  const parts: (SaidPart | Spoken)[] = []
  const open = new Map<string, Spoken>()
  let responseId = ''
  let finish: Finish | undefined
  const begin = (kind: Spoken['kind'], id: string, opaque: unknown) => {
    const spoken: Spoken = { kind, text: '', ...(opaque !== undefined && { opaque }) }
    open.set(`${kind} ${id}`, spoken)
    parts.push(spoken)
  }
  const say = (kind: Spoken['kind'], part: { id: string; delta: string; providerMetadata?: unknown }) => {
    const spoken = open.get(`${kind} ${part.id}`)
    if (!spoken) return
    spoken.text += part.delta
    if (part.providerMetadata !== undefined) spoken.opaque = part.providerMetadata
    if (part.delta !== '') onPiece({ kind, delta: part.delta })
  }
  const end = (kind: Spoken['kind'], id: string, opaque: unknown) => {
    const spoken = open.get(`${kind} ${id}`)
    if (spoken && opaque !== undefined) spoken.opaque = opaque
  }
  for await (const part of stream) {
    switch (part.type) {
      case 'text-start':
        begin('text', part.id, part.providerMetadata)
        break
      case 'reasoning-start':
        begin('thinking', part.id, part.providerMetadata)
        break
      case 'text-delta':
        say('text', part)
        break
      case 'reasoning-delta':
        say('thinking', part)
        break
      case 'text-end':
        end('text', part.id, part.providerMetadata)
        break
      case 'reasoning-end':
        end('thinking', part.id, part.providerMetadata)
        break
      case 'tool-input-start':
        onPiece({ kind: 'call', tool: part.toolName })
        break
      case 'tool-call':
        parts.push({
          kind: 'call',
          callId: part.toolCallId,
          tool: part.toolName,
          ...inputOf(part.input),
          ...(part.providerMetadata !== undefined && { opaque: part.providerMetadata }),
        })
        break
      case 'response-metadata':
        responseId = part.id ?? responseId
        break
      case 'error':
        throw failureOf(part.error)
      case 'finish':
        finish = part
        break
      default:
        break
    }
  }
  const reason = finish?.finishReason.unified
  if (!finish || reason === 'interrupted')
    throw new ModelFailure('cut', 'the answer of the model broke off; the part that arrived is not used')
  if (reason === 'error')
    throw new ModelFailure('server', `the model gave up: ${finish.finishReason.raw ?? 'no reason given'}`)
  const said = parts.filter((part) => part.kind === 'call' || part.text !== '' || part.opaque !== undefined)
  return { responseId, parts: said, usage: usageOf(finish.usage), finish: reasons[reason ?? 'other'] }
}

function inputOf(text: string): { input: unknown; malformed?: string } {
  try {
    // Some providers send nothing at all for a tool without parameters.
    return { input: text.trim() === '' ? {} : JSON.parse(text) }
  } catch {
    return { input: undefined, malformed: text }
  }
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): ModelTurn['usage'] {
  const { noCache, cacheRead, cacheWrite, total } = inputTokens
  const input = noCache ?? (total === undefined ? undefined : total - (cacheRead ?? 0) - (cacheWrite ?? 0))
  return {
    ...(input !== undefined && { input: Math.max(0, input) }),
    ...(outputTokens.total !== undefined && { output: outputTokens.total }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(outputTokens.reasoning !== undefined && { reasoning: outputTokens.reasoning }),
  }
}
