import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { answerName } from '../../contract/question-answers.ts'
import type { ApprovalView } from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import { type Question, questionsOf } from '../tui/approval-questions.ts'
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
  const questions = questionsOf(approval)
  const indented = (text: string, indent = '    ') =>
    wrap(oneLine(text), Math.max(20, width - indent.length)).map((line) => `${indent}${line}`)
  const waits = decision === null ? `waits ${age(approval.requested_at, now)}` : decided(approval)
  const risky = risk === null ? '' : ` | ${paint(riskColours[risk], `${risk} risk`)}`
  const expiry =
    approval.expires_at === null || decision !== null ? '' : ` | until ${oneLine(approval.expires_at)}`
  return [
    `${paint('bold', oneLine(name))} (${session_id}) | ${subject} | ${waits}${risky}${expiry}`,
    ...(questions.length === 0 ? indented(approval.action.slice(0, 2000)) : []),
    ...questions.flatMap((question, at) => [
      ...indented(`${answerName(questions, at)}: ${question.question} (${choiceOf(question)})`),
      ...question.options.flatMap(({ label, description }) =>
        indented(`- ${label}${description === '' ? '' : `: ${description}`}`, '      '),
      ),
    ]),
    ...(approval.reason === null ? [] : indented(`why: ${approval.reason}`)),
    ...(questions.length > 0 || options.length === 0 ? [] : indented(`answers: ${options.join(' | ')}`)),
    // It is there to be copied, so that it is neither cut nor wrapped.
    ...(decision === null ? [`    ${oneLine(`sm approve ${approval_id}${answersFor(questions)}`)}`] : []),
  ].join('\n')
}

function choiceOf({ options, isMany }: Question): string {
  if (options.length === 0) return 'in your own words'
  return isMany ? 'choose one or several' : 'choose one'
}

/** How all of them are answered at once; what several can be chosen of is named twice. */
function answersFor(questions: readonly Question[]): string {
  const [only, ...others] = questions
  const name = (at: number) => (only && others.length > 0 ? `${answerName(questions, at)}=` : '')
  return questions
    .flatMap((question, at) => {
      const one = ` --answer ${quoted(`${name(at)}…`)}`
      return question.isMany ? [one, one] : [one]
    })
    .join('')
}

const quoted = (word: string): string =>
  /^[\w…=.-]+$/.test(word) ? word : `"${word.replaceAll(/["$`\\]/g, '\\$&')}"`

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
