import type { AgentEvent } from '../../contract/event.ts'
import type { BlobRef } from '../../contract/values.ts'
import type { ModelTurn, SaidPart } from '../../ports/model.ts'
import type { RecordedAct, RecordedCall, RunRecord } from './run-record.ts'

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
