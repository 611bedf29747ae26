import type { ApprovalView } from '../../contract/session-views.ts'
import type { WatchModel } from './model.ts'

/** The approval of a session that waits longest. */
export function pendingOf({ approvals }: WatchModel, sessionId: string): ApprovalView | undefined {
  return approvals.find(({ session_id, decision }) => session_id === sessionId && decision === null)
}

/** The approval of a card, as long as it waits. */
export function approvalOf(
  { approvals }: WatchModel,
  { approvalId }: { readonly approvalId: string },
): ApprovalView | undefined {
  return approvals.find(({ approval_id, decision }) => approval_id === approvalId && decision === null)
}

/** Whether an approval can be given for so long; one that names no scopes is given once. */
export function isOffered({ options }: ApprovalView, scope: 'once' | 'session' | 'always'): boolean {
  return scope === 'once' || options.includes(scope)
}
