import type { By, Draft } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { Queued } from './message-queue.ts'

/** A message that was not delivered. */
export type DeadLetter = {
  readonly messageId: string
  readonly atMs: number
  readonly reason: string
  readonly preview: string
  /** The session that sent it and is to be told. */
  readonly sender?: SessionId
}

/** How the messages of a session ended lately. */
export type MessageEnds = {
  /** The one that the program took last: what Muster typed and may take out of the box again. */
  readonly accepted?: { readonly atMs: number; readonly vault?: string }
  /** Those that nobody has sent again since. */
  readonly dead?: readonly DeadLetter[]
}

const keptDead = 20

/** A dead letter stands in the row of its session until something that was sent after it has arrived. */
export function evolveEnds(
  ends: MessageEnds | undefined,
  event: Draft,
  { queue = [], recordedAt, by }: Given,
): MessageEnds | undefined {
  if (event.type !== 'message.accepted' && event.type !== 'message.failed') return ends
  const message = queue.find(({ messageId }) => messageId === event.payload.messageId)
  if (!message) return ends
  const { messageId, preview, vault, sender, queuedAtMs } = message
  const atMs = Date.parse(event.timestamp ?? recordedAt)
  const { dead = [] } = ends ?? {}
  if (event.type === 'message.accepted')
    return {
      accepted: { atMs, ...(vault && { vault }) },
      dead: dead.filter((one) => one.atMs >= queuedAtMs),
    }
  // What somebody took back is no loss.
  if (by !== undefined && by.kind !== 'daemon') return ends
  const { reason = event.payload.errorType } = event.payload
  const letter: DeadLetter = {
    messageId,
    atMs,
    reason: (typeof reason === 'string' ? reason : reason.preview).slice(0, 400),
    preview: preview.slice(0, 200),
    ...(sender && { sender }),
  }
  return { ...ends, dead: [...dead, letter].slice(-keptDead) }
}

/** The queue as it was before the event, and what stands beside the event. */
type Given = {
  readonly queue?: readonly Queued[] | undefined
  readonly recordedAt: string
  readonly by?: By | undefined
}
