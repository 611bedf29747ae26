import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { answerName } from '../../contract/question-answers.ts'
import type { ApprovalView } from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import { type Question, questionsOf, takesWords, verdictWords } from '../tui/approval-questions.ts'
import { age } from './figures.ts'
import { painter } from './paint.ts'
import { oneLine } from './safe-text.ts'
import { cut, pad, textWidth, wrap } from './text-width.ts'

/** How risky something looks. */
export const riskColours = { low: 'dim', medium: 'yellow', high: 'red' } as const

/** What waits for a decision: who asks, for what, why, and how to answer. */
export function renderApprovals({ approvals }: CommandOutput<'approvals'>, view: View): string {
  if (approvals.length === 0) return 'Nothing is waiting for a decision.'
  return approvals.map((approval) => renderApproval(approval, view)).join('\n\n')
}

function renderApproval(approval: ApprovalView, { width, now, color }: View): string {
  const paint = painter(color)
  const { approval_id, session_id, name, subject, risk, decision } = approval
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
    ...reasonLines(approval).flatMap((line) => indented(line)),
    // They are there to be copied, so that they are neither cut nor wrapped.
    ...(decision === null ? answerCommands(approval, approval_id).map((line) => `    ${line}`) : []),
  ].join('\n')
}

/** Why it is asked; what has lines of its own keeps them. */
function reasonLines({ reason }: ApprovalView): readonly string[] {
  if (reason === null || reason === '') return []
  const [first = '', ...more] = reason.slice(0, 4000).split('\n')
  return more.length === 0 ? [`why: ${first}`] : [first, ...more]
}

/** The commands that answer, each with what it does; by the name of its choice where there are choices. */
export function answerCommands(approval: ApprovalView, id: string): readonly string[] {
  const questions = questionsOf(approval)
  const [only, ...others] = questions
  if (only === undefined) {
    const { yes, no } = verdictWords(approval)
    const scopes = ['session', 'always'].filter((scope) => approval.options.includes(scope))
    return aligned([
      [`sm approve ${id}`, yes],
      ...scopes.map(
        (scope) =>
          [
            `sm approve ${id} --${scope}`,
            scope === 'always' ? 'allow always' : 'allow in this session',
          ] as const,
      ),
      [`sm reject ${id}`, no],
    ])
  }
  if (others.length === 0 && !takesWords(approval))
    return aligned(
      only.options.map(
        ({ label, description }) => [`sm approve ${id} --answer ${quoted(label)}`, description] as const,
      ),
    )
  return [oneLine(`sm approve ${id}${answersFor(questions)}`)]
}

function aligned(rows: readonly (readonly [command: string, does: string])[]): string[] {
  const width = Math.max(...rows.map(([command]) => textWidth(oneLine(command))))
  return rows.map(([command, does]) => `${pad(oneLine(command), width)}  ${oneLine(does)}`.trimEnd())
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
