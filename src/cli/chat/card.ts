import type { ApprovalView } from '../../contract/session-views.ts'
import { edit, emptyLine, textOf } from '../watch/line-editor.ts'
import { type Question, questionsOf } from '../watch/questions.ts'
import { answerLines } from './ink-lines.ts'
import { acted, type Card, type ChatModel, type Step, still } from './model.ts'

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

const scopes: Readonly<Record<string, 'once' | 'session' | 'always'>> = {
  y: 'once',
  s: 'session',
  a: 'always',
}

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
  if (key === '<enter>') {
    const labels = question.options.filter((_, i) => card.marked.has(i)).map(({ label }) => label)
    return answered(model, { card, question }, labels.join(', '))
  }
  const index = Number(key) - 1
  const option = question.options[index]
  if (option === undefined) return still(model)
  if (!question.isMany) return answered(model, { card, question }, option.label)
  const marked = new Set(card.marked)
  if (!marked.delete(index)) marked.add(index)
  return still({ ...model, card: { ...card, marked } })
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
