import type { ApprovalView } from '../../contract/session-views.ts'
import { riskColours } from '../render/approvals.ts'
import { type Paint, painter } from '../render/paint.ts'
import { oneLine, plainLines } from '../render/safe-text.ts'
import {
  markedAnswer,
  type Question,
  questionsOf,
  scopes,
  toggled,
  verdictWords,
} from '../tui/approval-questions.ts'
import { edit, emptyLine, textOf } from '../tui/line-editor.ts'
import { clip, fold } from '../tui/lines.ts'
import { answerLines } from './chat-lines.ts'
import { acted, type Card, type ChatModel, roomOf, type Step, still } from './model.ts'

/** So long after a card appeared, or a key was typed into the line, keys do not answer it. */
const calmMs = 600

/** Shows the oldest of what is asked; one that is being answered stays. */
export function withAsks(model: ChatModel, asks: readonly ApprovalView[]): ChatModel {
  const { card } = model
  if (card && asks.some(({ approval_id }) => approval_id === card.approval.approval_id))
    return { ...model, asks }
  const [first] = asks
  const isTyped = card?.isRefusing ?? false
  return {
    ...model,
    asks,
    card: first && newCard(first, model.now),
    // A reason that was being typed has nothing to refuse any more.
    ...(isTyped && { line: emptyLine }),
  }
}

const newCard = (approval: ApprovalView, now: number): Card => ({
  approval,
  readyAtMs: now + calmMs,
  step: 0,
  answers: {},
  marked: new Set(),
  armed: undefined,
  isRefusing: false,
})

/** Somebody types into the line: what they type is not meant for the card. */
export const calmed = (model: ChatModel): ChatModel =>
  model.card === undefined ? model : { ...model, card: { ...model.card, readyAtMs: model.now + calmMs } }

/** The question that stands open, if it is one. */
export const openQuestion = ({ approval, step }: Card): Question | undefined => questionsOf(approval)[step]

/** A key while something is asked; nothing when it is none of the card's. */
export function pressOnCard(model: ChatModel, card: Card, key: string): Step | undefined {
  if (card.isRefusing) return pressInReason(model, card, key)
  if (textOf(model.line) !== '') return undefined
  const question = openQuestion(card)
  const isOurs =
    question === undefined
      ? key === 'n' || key in scopes
      : /^[1-9]$/.test(key) || (key === '<enter>' && card.marked.size > 0)
  if (!isOurs) return undefined
  // Taken from the line as well: a letter that came too early is no word either.
  if (model.now < card.readyAtMs) return still(model)
  if (question !== undefined) return choose(model, { card, question }, key)
  if (key === 'n') return still({ ...model, card: { ...card, isRefusing: true }, line: emptyLine })
  const { approval } = card
  if (approval.risk === 'high' && card.armed !== key)
    return still({ ...model, card: { ...card, armed: key } })
  const scope = approval.subject === 'plan' ? 'once' : (scopes[key] ?? 'once')
  return decided(model, { id: approval.approval_id, verdict: 'allow', scope })
}

function pressInReason(model: ChatModel, card: Card, key: string): Step {
  if (key === '<esc>' || key === '<c-c>')
    return still({ ...model, card: { ...card, isRefusing: false }, line: emptyLine })
  if (key !== '<enter>') return still({ ...model, line: edit(model.line, key) })
  const reason = textOf(model.line).trim()
  return decided(
    { ...model, line: emptyLine },
    { id: card.approval.approval_id, verdict: 'deny', ...(reason !== '' && { reason }) },
  )
}

type Asked = { readonly card: Card; readonly question: Question }

function choose(model: ChatModel, { card, question }: Asked, key: string): Step {
  if (key === '<enter>') return answered(model, { card, question }, markedAnswer(question, card.marked))
  const index = Number(key) - 1
  const option = question.options[index]
  if (option === undefined) return still(model)
  if (!question.isMany) return answered(model, { card, question }, option.label)
  return still({ ...model, card: { ...card, marked: toggled(card.marked, index) } })
}

/** Takes the answer to one question, and goes on to the next or sends them all. */
export function answered(model: ChatModel, { card, question }: Asked, answer: string): Step {
  const answers = { ...card.answers, [question.question]: answer }
  if (card.step + 1 < questionsOf(card.approval).length)
    return still({ ...model, card: { ...card, step: card.step + 1, answers, marked: new Set() } })
  const step = decided(model, { id: card.approval.approval_id, verdict: 'allow', answers })
  return { ...step, out: Object.entries(answers).flatMap(([asked, said]) => answerLines(model, asked, said)) }
}

type Decision = Extract<Step['effects'][number], { kind: 'decide' }>['decision']

function decided(model: ChatModel, decision: Decision): Step {
  const asks = model.asks.filter(({ approval_id }) => approval_id !== decision.id)
  return acted(withAsks({ ...model, card: undefined }, asks), { kind: 'decide', decision })
}

const bar = '│ '

/** What is asked and how it is answered, in as much room as there is. */
export function cardView(model: ChatModel, card: Card, mostRows: number): string[] {
  const paint = painter(model.color)
  const width = roomOf(model) - bar.length
  const question = openQuestion(card)
  const [head, body, keys] = question === undefined ? permission(model, card) : asking(card)
  const room = Math.max(1, mostRows - 2)
  const lines = body.flatMap((text) => fold(plainLines(text), width))
  const shown =
    lines.length > room
      ? [
          ...lines.slice(0, room - 1),
          paint('dim', clip(`… ${lines.length - room + 1} more lines: sm approvals`, width)),
        ]
      : lines
  const more = model.asks.length > 1 ? `  (${model.asks.length - 1} more)` : ''
  const risk = card.approval.risk
  const risky =
    question !== undefined || risk === null || risk === 'low'
      ? ''
      : `  ${paint(riskColours[risk], `${risk} risk`)}`
  return [
    paint('yellow', clip(head + more, width - 14)) + risky,
    ...shown,
    ...fold(keys, width).map((line) => hinted(line, paint)),
  ].map((line) => paint('yellow', bar) + line)
}

type Shown = readonly [head: string, body: readonly string[], keys: string]

function permission({ agent, line, now }: ChatModel, card: Card): Shown {
  const { approval, armed, isRefusing } = card
  const isPlan = approval.subject === 'plan'
  const head = isPlan ? `${agent} has a plan` : `${agent} asks for a permission`
  const body = [
    approval.action,
    ...(approval.reason === null ? [] : [`why: ${oneLine(approval.reason)}`]),
    ...(approval.diff === null ? [] : [approval.diff]),
  ]
  const { yes, no } = verdictWords(approval)
  const isPermission = approval.subject === 'tool'
  const keys = isPermission ? '[y] once  [s] this session  [a] always  [n] no' : `[y] ${yes}  [n] ${no}`
  if (isRefusing) return [head, body, 'no: say why if you like; [enter] sends, [esc] goes back']
  if (armed !== undefined)
    return [head, body, `this is risky: press [${armed}] again to allow it, [n] to refuse`]
  if (textOf(line) !== '') return [head, body, `[ctrl-u] clears the line, then ${keys}`]
  // Keys are shown when they count.
  return [head, body, now < card.readyAtMs ? '…' : keys]
}

function asking(card: Card): Shown {
  const question = openQuestion(card)
  const options = question?.options ?? []
  const body = options.map(({ label, description }, i) => {
    const mark = question?.isMany ? (card.marked.has(i) ? '[x] ' : '[ ] ') : ''
    return `${i + 1}. ${mark}${label}${description === '' ? '' : `: ${oneLine(description)}`}`
  })
  const keys = options.length < 2 ? '1' : `1-${options.length}`
  const choosing = question?.isMany ? `[${keys}] selects, [enter] sends; or ` : `[${keys}] chooses; or `
  const numbers = options.length === 0 ? '' : choosing
  return [oneLine(question?.question ?? ''), body, `${numbers}type an answer and press [enter]`]
}

/** Keys stand out of what they do. */
function hinted(line: string, paint: Paint): string {
  return line
    .split(/(\[[^\]]+\])/)
    .map((part) => (/^\[.+\]$/.test(part) ? paint('bold', part.slice(1, -1)) : paint('dim', part)))
    .join('')
}
