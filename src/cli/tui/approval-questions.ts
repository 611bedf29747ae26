import { joinedAnswer, mustChoose } from '../../contract/question-answers.ts'
import type { ApprovalView } from '../../contract/session-views.ts'

/** One question of an approval, with what can be chosen. */
export type Question = {
  readonly question: string
  readonly header?: string
  readonly options: readonly { readonly label: string; readonly description: string }[]
  readonly isMany: boolean
}

/** The questions that an approval asks, as far as they can be read; none when it only wants a yes or no. */
export function questionsOf(approval: ApprovalView): readonly Question[] {
  if (approval.subject !== 'question' && !mustChoose(approval.options)) return []
  const scope: readonly unknown[] = Array.isArray(approval.scope) ? approval.scope : []
  const read = scope.map(questionOf)
  if (read.length > 0 && read.every((one) => one !== undefined)) return read
  const options = approval.options.map((label) => ({ label, description: '' }))
  return [{ question: approval.action, options, isMany: false }]
}

function questionOf(value: unknown): Question | undefined {
  if (!isObject(value) || typeof value['question'] !== 'string') return undefined
  const options: readonly unknown[] = Array.isArray(value['options']) ? value['options'] : []
  return {
    question: value['question'],
    ...(typeof value['header'] === 'string' && { header: value['header'] }),
    options: options.flatMap((option) =>
      isObject(option) && typeof option['label'] === 'string'
        ? [
            {
              label: option['label'],
              description: typeof option['description'] === 'string' ? option['description'] : '',
            },
          ]
        : [],
    ),
    isMany: value['isMany'] === true,
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Whether it may be answered in words of one's own, and not only by one of the choices. */
export const takesWords = ({ subject }: ApprovalView): boolean => subject === 'question'

const verdicts: Partial<Record<ApprovalView['subject'], { readonly yes: string; readonly no: string }>> = {
  land: { yes: 'land it', no: 'leave the branch' },
  workflow: { yes: 'run it', no: 'do not run it' },
  plan: { yes: 'approve the plan', no: 'reject the plan' },
}

/** What a yes and a no mean for something that is asked, in the same words wherever it is asked. */
export function verdictWords({ subject, options }: ApprovalView): {
  readonly yes: string
  readonly no: string
} {
  const usual = options.includes('once')
    ? { yes: 'allow once', no: 'deny' }
    : { yes: 'approve', no: 'reject' }
  return verdicts[subject] ?? usual
}

/** For how long an approval is given, by the key that gives it. */
export const scopes: Readonly<Record<string, 'once' | 'session' | 'always'>> = {
  y: 'once',
  s: 'session',
  a: 'always',
}

/** The marks of a choice of many after the key of one option: on, or off again. */
export function toggled(marked: ReadonlySet<number>, option: number): ReadonlySet<number> {
  const next = new Set(marked)
  if (!next.delete(option)) next.add(option)
  return next
}

/** The answer that marks make. */
export function markedAnswer({ options }: Question, marked: ReadonlySet<number>): string {
  return joinedAnswer(options.filter((_, i) => marked.has(i)).map(({ label }) => label))
}
