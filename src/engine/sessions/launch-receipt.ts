import type { AgentCliName } from '../../contract/config/names.ts'
import type { Draft } from '../../contract/event.ts'
import type { Signal } from '../../contract/signal.ts'
import { isSameText } from '../../core/messages/message-text.ts'
import { draftOf, type Root } from './drafts.ts'
import type { Parts } from './parts.ts'

/** A prompt that the program was started with: that the CLI took it is its receipt. Others are typed, and get theirs there. */
export function launchReceipt({ engine, clis }: Parts, root: Root, signal: Signal): Draft[] {
  if ((signal.kind !== 'prompt' && signal.kind !== 'prompt-queued') || signal.agent !== undefined) return []
  const taken = signal.text
  const { queue = [], managed } = engine.session(root.sessionId) ?? {}
  if (managed?.isPromptTyped) return []
  const { harmless } = clis[(managed?.cli ?? 'custom') as AgentCliName].dialect
  const found = queue.find(
    ({ by, preview }) => by === 'launch' && (taken === undefined || isSameText(taken, harmless(preview))),
  )
  if (!found) return []
  const proof = signal.source === 'hook' ? 'hook' : 'transcript'
  const { messageId, spanId } = found
  return [draftOf({ ...root, spanId, parentSpanId: root.spanId }, 'message.accepted', { messageId, proof })]
}
