import { shortId } from '../../contract/ids.ts'
import type { MessageRow, SessionRow } from '../../contract/index-rows.ts'
import type { MessageView } from '../../contract/session-views.ts'

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

const states = {
  created: 'queued',
  queued: 'queued',
  delivered: 'submitted',
  accepted: 'accepted',
  failed: 'failed',
} as const

/** A message as its sender sees it. */
export function messageView(row: MessageRow): MessageView {
  return {
    message_id: row.messageId,
    session_id: shortId(row.sessionId),
    from: row.fromAgent,
    mode: (row.mode as MessageView['mode'] | null) ?? 'sequential',
    state: states[row.state],
    preview: row.preview ?? '',
    detail: row.detail,
    queued_at: iso(row.queuedMs ?? row.createdMs) ?? '',
    accepted_at: iso(row.acceptedMs),
    failed_at: iso(row.failedMs),
  }
}

/** A message that was the answer to a question and needed no delivery. */
export function answeredView(
  row: SessionRow,
  said: { messageId: string; text: string; mode: MessageView['mode']; from: string; at: number },
): MessageView {
  const time = new Date(said.at).toISOString()
  return {
    message_id: said.messageId,
    session_id: row.shortId,
    from: said.from,
    mode: said.mode,
    state: 'answered',
    preview: said.text.slice(0, 2000),
    detail: 'it answered the question that the agent asked',
    queued_at: time,
    accepted_at: time,
    failed_at: null,
  }
}
