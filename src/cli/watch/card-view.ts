import type { ApprovalView } from '../../contract/session-views.ts'
import { age, shortDuration } from '../render/figures.ts'
import { type Paint, paintedDiff, painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { fold } from './fit.ts'
import { layoutOf } from './layout.ts'
import type { Card, WatchModel } from './model.ts'
import { motionOf } from './motion.ts'
import { questionsOf } from './questions.ts'

const risks = { low: 'dim', medium: 'yellow', high: 'red' } as const

/** An approval and how far it has been read and answered. */
export type Opened = { readonly approval: ApprovalView; readonly card: Card }

/** The head of a card: who asks, how risky it looks, how long it has waited and how long it still can. */
export function cardHead({ approval }: Opened, now: number, paint: Paint): string {
  const { name, session_id, subject, risk, requested_at, expires_at } = approval
  const left = expires_at === null ? undefined : leftOf(expires_at, now)
  return [
    `${paint('bold', oneLine(name))} ${paint('dim', session_id)}`,
    subjects[subject],
    ...(risk === null || subject === 'question' ? [] : [paint(risks[risk], `${risk} risk`)]),
    `waits ${age(requested_at, now)}`,
    ...(left === undefined ? [] : [paint('dim', `${left} left`)]),
  ].join(' · ')
}

const subjects: Readonly<Record<ApprovalView['subject'], string>> = {
  tool: 'wants to run a tool',
  plan: 'asks to approve a plan',
  workflow: 'asks to start a workflow',
  termination: 'asks whether it is done',
  budget: 'asks for more budget',
  land: 'asks to land its work',
  question: 'asks you',
}

const leftOf = (expires: string, now: number): string =>
  shortDuration(Math.max(0, Date.parse(expires) - now) / 1000)

/** Everything that somebody needs to decide, in lines. */
export function cardLines({ approval, card }: Opened, width: number, paint: Paint): string[] {
  const question = questionsOf(approval)[card.step]
  if (question !== undefined) return questionLines({ approval, card }, width, paint)
  const { action, reason, scope, diff } = approval
  return [
    ...fold(action, width).map((line) => paint('bold', line)),
    ...(reason === null ? [] : ['', ...fold(`Why: ${reason}`, width)]),
    ...(typeof scope === 'string' ? ['', ...fold(`Where: ${scope}`, width)] : []),
    ...(diff === null ? [] : ['', ...fold(diff.trimEnd(), width).map((line) => paintedDiff(line, paint))]),
  ]
}

function questionLines({ approval, card }: Opened, width: number, paint: Paint): string[] {
  const questions = questionsOf(approval)
  const { question, options, isMany } = questions[card.step] ?? { question: '', options: [], isMany: false }
  const head =
    questions.length === 1 ? [] : [paint('dim', `Question ${card.step + 1} of ${questions.length}`)]
  return [
    ...head,
    ...fold(question, width).map((line) => paint('bold', line)),
    '',
    ...options.slice(0, 9).flatMap(({ label, description }, i) => {
      const mark = isMany ? `[${card.marked.has(i) ? 'x' : ' '}] ` : ''
      return [
        `${paint('cyan', ` ${i + 1}`)}  ${mark}${oneLine(label)}`,
        ...(description === ''
          ? []
          : fold(description, width - 6).map((line) => paint('dim', `      ${line}`))),
      ]
    }),
    ...(approval.reason === null ? [] : ['', ...fold(approval.reason, width)]),
  ]
}

/** Where a key scrolls a card to; nothing when it is no such key. */
export function scrolledCard(model: WatchModel, opened: Opened, key: string): number | undefined {
  const { body } = layoutOf(model.size)
  const room = body - cardHeadRows
  const total = cardLines(opened, model.size.columns - 2, painter(false)).length
  const by = motionOf(key, { page: room, total })
  if (by === undefined) return undefined
  return Math.min(Math.max(0, opened.card.scroll + by), Math.max(0, total - room))
}

/** The head and the empty line after it. */
export const cardHeadRows = 2
