import type { Draft } from '../contract/event.ts'
import type { Queued } from '../core/messages/message-queue.ts'
import type { SessionState } from '../core/session/state.ts'
import { draftOf, type Root } from '../engine/sessions/drafts.ts'

const previewChars = 400

/** What an agent takes up next: what interrupts, what is important, then in order. */
export function nextOf(state: Readonly<SessionState> | undefined, agent: string): Queued | undefined {
  const waiting = (state?.queue ?? []).filter(({ to, stage }) => to === agent && stage === 'queued')
  for (const mode of ['urgent', 'important'] as const) {
    const found = waiting.find((one) => one.mode === mode)
    if (found) return found
  }
  return waiting[0]
}

/** The receipts of messages that an agent has taken, as part of the run that took them. */
export const acceptedOf = (root: Root, messages: readonly Queued[]): Draft[] =>
  messages.map(({ messageId, spanId }) =>
    draftOf({ ...root, spanId }, 'message.accepted', { messageId, proof: 'runtime' }),
  )

/** What waits for an agent once some of it is gone, or one more has come. */
export function queueUpdate(
  root: Root,
  state: Readonly<SessionState>,
  { gone = [], added }: { readonly gone?: readonly string[]; readonly added?: Queued },
): Draft {
  const agentId = root.actor
  const waiting = [...(state.queue ?? []), ...(added ? [added] : [])].filter(
    ({ to, messageId }) => to === agentId && !gone.includes(messageId),
  )
  return draftOf(root, 'queue.updated', {
    agentId,
    ...(state.managed && { projectRoot: state.managed.workingDir }),
    items: waiting.map(({ messageId, preview, queuedAtMs }) => ({
      id: messageId,
      agentId,
      preview: preview.slice(0, previewChars),
      timestamp: new Date(queuedAtMs).toISOString(),
    })),
  })
}
