import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { ApprovalView } from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import { age } from './figures.ts'
import { painter } from './paint.ts'
import { oneLine } from './safe-text.ts'
import { cut, wrap } from './text-width.ts'

/** How risky something looks. */
export const riskColours = { low: 'dim', medium: 'yellow', high: 'red' } as const

/** What waits for a decision: who asks, for what, why, and how to answer. */
export function renderApprovals({ approvals }: CommandOutput<'approvals'>, view: View): string {
  if (approvals.length === 0) return 'Nothing is waiting for a decision.'
  return approvals.map((approval) => renderApproval(approval, view)).join('\n\n')
}

function renderApproval(approval: ApprovalView, { width, now, color }: View): string {
  const paint = painter(color)
  const { approval_id, session_id, name, subject, risk, decision, options } = approval
  const indented = (text: string) => wrap(oneLine(text), Math.max(20, width - 4)).map((line) => `    ${line}`)
  const waits = decision === null ? `waits ${age(approval.requested_at, now)}` : decided(approval)
  const risky = risk === null ? '' : ` | ${paint(riskColours[risk], `${risk} risk`)}`
  const expiry =
    approval.expires_at === null || decision !== null ? '' : ` | until ${oneLine(approval.expires_at)}`
  return [
    `${paint('bold', oneLine(name))} (${session_id}) | ${subject} | ${waits}${risky}${expiry}`,
    ...indented(approval.action.slice(0, 2000)),
    ...(approval.reason === null ? [] : indented(`why: ${approval.reason}`)),
    ...(options.length === 0 ? [] : indented(`answers: ${options.join(' | ')}`)),
    ...(decision === null ? [`    ${cut(`sm approve ${approval_id}`, width - 4)}`] : []),
  ].join('\n')
}

function decided({ decision, decided_by, answer }: ApprovalView): string {
  const by = decided_by === null ? '' : ` by ${oneLine(decided_by)}`
  return `${decision}${by}${answer === null ? '' : `: ${oneLine(answer)}`}`
}

/** A decision as it was taken. */
export function renderDecision(approval: ApprovalView): string {
  const word = { granted: 'Approved', rejected: 'Rejected', expired: 'Expired' }[
    approval.decision ?? 'granted'
  ]
  const { action, name, session_id, answer } = approval
  const said = answer === null ? '' : `: ${oneLine(answer)}`
  return `${word} for ${oneLine(name)} (${session_id})${said} | ${cut(oneLine(action.slice(0, 400)), 200)}`
}
