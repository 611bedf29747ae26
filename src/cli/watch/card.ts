import type { ApprovalView } from '../../contract/session-views.ts'
import { riskColours } from '../render/approvals.ts'
import { age, shortDuration } from '../render/figures.ts'
import { type Paint, paintedDiff, painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import {
  markedAnswer,
  type Question,
  questionsOf,
  scopes,
  takesWords,
  toggled,
} from '../tui/approval-questions.ts'
import { edit, emptyLine, textOf } from '../tui/line-editor.ts'
import { fold } from '../tui/lines.ts'
import {
  approvalOf,
  type Card,
  isOffered,
  type Mode,
  type Step,
  said,
  still,
  type WatchModel,
} from './model.ts'
import { layoutOf, motionOf } from './selection.ts'

export const newCard = (approvalId: string): Card => ({
  approvalId,
  scroll: 0,
  armed: undefined,
  step: 0,
  answers: {},
  marked: new Set(),
})

/** A key while a card is open. */
export function pressInCard(model: WatchModel, card: Card, key: string): Step {
  const approval = approvalOf(model, card)
  if (approval === undefined || key === '<esc>' || key === 'q')
    return still({ ...model, mode: { kind: 'list' } })
  const step = scrolledCard(model, { approval, card }, key)
  if (step !== undefined) return still(shown(model, { ...card, scroll: step, armed: undefined }))
  if (key === 'n') return decided(model, { id: card.approvalId, verdict: 'deny' })
  const question = questionsOf(approval)[card.step]
  if (question !== undefined) return pressInQuestion(model, { card, approval, question }, key)
  if (key === 'r') return still(words(model, card, false))
  const scope = scopes[key]
  if (scope === undefined || !isOffered(approval, scope))
    return still(shown(model, { ...card, armed: undefined }))
  if (approval.risk === 'high' && card.armed !== key) return still(shown(model, { ...card, armed: key }))
  return decided(model, { id: card.approvalId, verdict: 'allow', scope })
}

type Asked = { readonly card: Card; readonly approval: ApprovalView; readonly question: Question }

function pressInQuestion(model: WatchModel, asked: Asked, key: string): Step {
  const { card, question } = asked
  if (key === ' ' && takesWords(asked.approval)) return still(words(model, card, true))
  if (key === '<enter>' && question.isMany && card.marked.size > 0)
    return answered(model, asked, markedAnswer(question, card.marked))
  const chosen = /^[1-9]$/.test(key) ? question.options[Number(key) - 1] : undefined
  if (chosen === undefined) return still(model)
  if (!question.isMany) return answered(model, asked, chosen.label)
  return still(shown(model, { ...card, marked: toggled(card.marked, Number(key) - 1) }))
}

/** Takes the answer to one question, and goes on to the next or sends them all. */
function answered(model: WatchModel, { card, approval, question }: Asked, answer: string): Step {
  const answers = { ...card.answers, [question.question]: answer }
  if (card.step + 1 < questionsOf(approval).length)
    return still(shown(model, { ...newCard(card.approvalId), step: card.step + 1, answers }))
  return decided(model, { id: card.approvalId, verdict: 'allow', answers })
}

/** A key while words for a card are typed. */
export function pressInWords(model: WatchModel, mode: Extract<Mode, { kind: 'words' }>, key: string): Step {
  const { card, line, isAnswer } = mode
  if (key === '<esc>' || key === '<c-c>') return still(shown(model, card))
  if (key !== '<enter>') return still({ ...model, mode: { ...mode, line: edit(line, key) } })
  const text = textOf(line).trim()
  if (text === '') return still(shown(model, card))
  if (!isAnswer) return decided(model, { id: card.approvalId, verdict: 'deny', reason: text })
  const approval = approvalOf(model, card)
  const question = approval && questionsOf(approval)[card.step]
  if (approval === undefined || question === undefined) return still({ ...model, mode: { kind: 'list' } })
  return answered(model, { card, approval, question }, text)
}

type Decided = Extract<Step['effects'][number], { kind: 'decide' }>['decision']

function decided(model: WatchModel, decision: Decided): Step {
  return {
    model: said({ ...model, mode: { kind: 'list' } }, 'plain', 'deciding…'),
    effects: [{ kind: 'decide', decision }],
  }
}

const words = (model: WatchModel, card: Card, isAnswer: boolean): WatchModel => ({
  ...model,
  mode: { kind: 'words', card: { ...card, armed: undefined }, isAnswer, line: emptyLine },
})

const shown = (model: WatchModel, card: Card): WatchModel => ({ ...model, mode: { kind: 'card', card } })

/** An approval and how far it has been read and answered. */
type Opened = { readonly approval: ApprovalView; readonly card: Card }

/** The head of a card: who asks, how risky it looks, how long it has waited and how long it still can. */
export function cardHead({ approval }: Opened, now: number, paint: Paint): string {
  const { name, session_id, subject, risk, requested_at, expires_at } = approval
  const left = expires_at === null ? undefined : leftOf(expires_at, now)
  return [
    `${paint('bold', oneLine(name))} ${paint('dim', session_id)}`,
    subjects[subject],
    ...(risk === null || subject === 'question' ? [] : [paint(riskColours[risk], `${risk} risk`)]),
    `waits ${age(requested_at, now)}`,
    ...(left === undefined ? [] : [paint('dim', `${left} left`)]),
  ].join(' · ')
}

const subjects: Readonly<Record<ApprovalView['subject'], string>> = {
  tool: 'wants to run a tool',
  plan: 'asks what to do',
  workflow: 'asks to start a workflow',
  termination: 'asks whether the work is done',
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
function scrolledCard(model: WatchModel, opened: Opened, key: string): number | undefined {
  const { body } = layoutOf(model.size)
  const room = body - cardHeadRows
  const total = cardLines(opened, model.size.columns - 2, painter(false)).length
  const by = motionOf(key, { page: room, total })
  if (by === undefined) return undefined
  return Math.min(Math.max(0, opened.card.scroll + by), Math.max(0, total - room))
}

/** The head and the empty line after it. */
export const cardHeadRows = 2
