import type { ApprovalRow } from '../../contract/index-rows.ts'
import type { ApprovalView } from '../../contract/session-views.ts'
import type { Directory } from './directory.ts'
import { textOf } from './text-of.ts'

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** A question with everything a person needs to decide it. */
export async function approvalView(directory: Directory, row: ApprovalRow): Promise<ApprovalView> {
  const [session, asked] = await Promise.all([directory.find(row.sessionId), directory.event(row.seq)])
  const payload = asked?.type === 'approval.requested' ? asked.payload : undefined
  const { requestedMs, timeoutMs } = row
  return {
    approval_id: row.approvalId,
    session_id: session.shortId,
    name: session.friendlyName ?? session.name ?? session.shortId,
    subject: row.subject,
    action: payload ? textOf(payload.action) : (row.action ?? ''),
    reason: row.reason,
    scope: payload?.scope ?? null,
    diff: payload?.diff === undefined ? null : textOf(payload.diff),
    risk: row.risk,
    options: row.options,
    requested_at: iso(requestedMs) ?? '',
    expires_at: requestedMs === null || timeoutMs === null ? null : iso(requestedMs + timeoutMs),
    decision: row.decision,
    decided_by: row.decidedBy,
    answer: row.answer,
  }
}
