import type { By, Draft } from '../../contract/event.ts'
import type { SessionId, SpanId } from '../../contract/ids.ts'

/** How a queued message stands. Once pasted it is never pasted again, whatever happens. */
export type Stage = 'queued' | 'pasted' | 'submitted' | 'injected'

/** A message that waits for its receipt. */
export type Queued = {
  readonly messageId: string
  readonly spanId: SpanId
  readonly mode: 'sequential' | 'important' | 'urgent'
  readonly by: 'terminal' | 'launch' | 'answer' | 'runtime'
  readonly stage: Stage
  readonly from?: string
  /** Which agent of the session it is for. */
  readonly to?: string
  /** When it was queued. */
  readonly queuedAtMs: number
  /** Where the raw text is. */
  readonly vault?: string
  readonly preview: string
  /** When it was first given to the terminal or a hook: no receipt is older. */
  readonly givenAtMs?: number
  /** The session that sent it; nothing when a person or Muster itself did. */
  readonly sender?: SessionId
}

const none: readonly Queued[] = []

/** The messages of a session that have no end yet, in the order they came. */
export function evolveQueue(
  queue: readonly Queued[] = none,
  event: Draft,
  { recordedAt, by: asker }: { readonly recordedAt: string; readonly by?: By | undefined },
): readonly Queued[] {
  switch (event.type) {
    case 'message.queued': {
      const { messageId, mode = 'sequential', by = 'terminal', from, to, vault, preview = '' } = event.payload
      const added: Queued = {
        messageId,
        spanId: event.spanId,
        mode,
        by,
        stage: 'queued',
        preview,
        queuedAtMs: Date.parse(event.timestamp ?? recordedAt),
        ...(from && { from }),
        ...(to && { to }),
        ...(vault && { vault }),
        ...(asker?.kind === 'session' && { sender: asker.id as SessionId }),
      }
      return [...queue, added]
    }
    case 'message.delivered': {
      const { messageId, stage = 'pasted' } = event.payload
      const now = Date.parse(event.timestamp ?? recordedAt)
      return queue.map((one) => {
        if (one.messageId !== messageId) return one
        const isBegun = one.givenAtMs !== undefined && stage === 'submitted'
        return { ...one, stage, givenAtMs: isBegun ? one.givenAtMs : now }
      })
    }
    case 'message.accepted':
    case 'message.failed':
      return queue.filter((one) => one.messageId !== event.payload.messageId)
    default:
      return queue
  }
}

/**
 * Which message goes next: the first prompt, what interrupts, what takes the next boundary, then in order.
 * A first prompt that the program was started with is not typed; its receipt comes by itself.
 */
export function nextMessage(queue: readonly Queued[], isPromptTyped: boolean): Queued | undefined {
  // What is on its way must get its receipt before anything else is typed.
  const underway = queue.find(({ stage }) => stage !== 'queued')
  if (underway) return underway
  const first = queue.find(({ by }) => by === 'launch')
  if (first) return isPromptTyped ? first : undefined
  for (const mode of ['urgent', 'important', 'sequential'] as const) {
    const found = queue.find((one) => one.mode === mode)
    if (found) return found
  }
  return undefined
}
