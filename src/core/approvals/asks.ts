import type * as z from 'zod'
import type { Draft } from '../../contract/event.ts'
import type { SpanId } from '../../contract/ids.ts'
import type { ApprovalSubject } from '../../contract/values.ts'

/** A question that nobody has answered yet. */
export type Ask = {
  readonly approvalId: string
  readonly spanId: SpanId
  readonly subject: z.infer<typeof ApprovalSubject>
  readonly options: readonly string[]
  readonly requestedAtMs: number
  readonly expiresAtMs?: number
}

const none: readonly Ask[] = []

/** The open questions of a session, oldest first. */
export function evolveAsks(asks: readonly Ask[] = none, event: Draft, recordedAt: string): readonly Ask[] {
  switch (event.type) {
    case 'approval.requested': {
      const { approvalId, subject, options = [], timeoutMs } = event.payload
      const requestedAtMs = Date.parse(event.timestamp ?? recordedAt)
      const ask: Ask = {
        approvalId,
        spanId: event.spanId,
        subject,
        options,
        requestedAtMs,
        ...(timeoutMs !== undefined && { expiresAtMs: requestedAtMs + timeoutMs }),
      }
      return [...asks, ask]
    }
    case 'approval.granted':
    case 'approval.rejected':
    case 'approval.expired':
      return asks.filter(({ approvalId }) => approvalId !== event.payload.approvalId)
    default:
      return asks
  }
}
