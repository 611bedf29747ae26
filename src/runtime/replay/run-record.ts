import type { AgentEvent } from '../../contract/event.ts'
import type { RunId, SessionId } from '../../contract/ids.ts'
import type { BlobRef } from '../../contract/values.ts'
import type { ModelMessage, ModelTurn, SaidPart } from '../../ports/model.ts'
import type { Compacted } from '../compact.ts'
import type { KeptAnswer } from '../run-call.ts'

/** A turn of the model, with what the conversation had gained before it. */
type RecordedTurn = {
  readonly kind: 'turn'
  readonly seq: number
  readonly gained: readonly ModelMessage[]
  readonly turn: ModelTurn
}

/** What a model did in a run, in its order. */
export type RecordedAct =
  | RecordedTurn
  | {
      readonly kind: 'summary'
      readonly seq: number
      readonly turn: ModelTurn
      readonly compacted: Compacted
      readonly trigger: 'auto' | 'limit'
    }
  /** A request that failed and was not made again. */
  | { readonly kind: 'failure'; readonly seq: number; readonly error: string; readonly isTooLong: boolean }
  /** The run was cut off here and went on after a restart. */
  | { readonly kind: 'resumed'; readonly seq: number }

/** How a call ended. */
export type RecordedCall = {
  readonly answer?: KeptAnswer
  readonly denial?: Extract<AgentEvent, { type: 'tool.call.denied' }>['payload']
}

/** How a run ended. */
export type RecordedEnd = {
  readonly seq: number
  readonly status: 'completed' | 'failed' | 'cancelled' | 'killed' | 'abandoned'
  readonly reason?: string | undefined
}

/** All that a run got from outside: what a replay is served from. */
export type RunRecord = {
  readonly runId: RunId
  readonly sessionId: SessionId
  readonly agent: string
  readonly depth: number
  /** Whether it has the texts themselves, or only what the journal shows of them. */
  readonly isExact: boolean
  /** The call of its parent that asked for it. */
  readonly callId: string | undefined
  readonly workspace: string
  readonly scopes: readonly (readonly string[])[]
  /** The conversation when it began, with its prompt, and how much of it was kept by then. */
  readonly messages: readonly ModelMessage[]
  readonly kept: number
  readonly acts: readonly RecordedAct[]
  readonly calls: ReadonlyMap<string, RecordedCall>
  /** What was said to it while it ran, by the number of turns before. */
  readonly injected: ReadonlyMap<number, readonly string[]>
  /** The tools that its agent listed, when it called one. */
  readonly tools: readonly string[] | undefined
  readonly end: RecordedEnd | undefined
  readonly children: readonly RunId[]
}

/** A run as the journal shows it: texts are redacted, and long ones are only their beginnings. */
export function previewed(own: readonly AgentEvent[]): Pick<RunRecord, 'acts' | 'calls' | 'injected'> {
  const acts: RecordedAct[] = []
  const calls = new Map<string, RecordedCall>()
  let parts: SaidPart[] = []
  for (const event of own) {
    switch (event.type) {
      case 'llm.request.completed': {
        // A turn besides the conversation has nothing to show.
        if (event.payload.vault === undefined) break
        parts = []
        const { responseId, usage, finishReason } = event.payload
        const finish = (finishReason ?? 'other') as ModelTurn['finish']
        acts.push({
          kind: 'turn',
          seq: event.seq,
          gained: [],
          turn: { responseId, usage, finish, parts },
        })
        break
      }
      case 'tool.call.started': {
        const { callId, tool, params } = event.payload
        parts.push({ kind: 'call', callId, tool, input: params ?? {} })
        break
      }
      case 'tool.call.completed':
      case 'tool.call.failed': {
        const { callId, tool, result, error } = event.payload
        const text = displayOf(result) ?? (typeof error === 'string' ? error : '')
        calls.set(callId, { answer: { callId, tool, text, isError: event.type === 'tool.call.failed' } })
        break
      }
      case 'tool.call.denied':
        calls.set(event.payload.callId, { denial: event.payload })
        break
      case 'agent.message.created':
        parts.push({ kind: 'text', text: words(event.payload.text) })
        break
      default:
    }
  }
  return { acts, calls, injected: new Map() }
}

function displayOf(result: unknown): string | undefined {
  const display =
    typeof result === 'object' && result !== null && 'display' in result ? result.display : undefined
  return typeof display === 'string' ? display : undefined
}

/** What the journal shows of a text. */
export const words = (body: string | BlobRef | undefined): string =>
  typeof body === 'string' ? body : (body?.preview ?? '')
