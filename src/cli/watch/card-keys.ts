import type { ApprovalView } from '../../contract/session-views.ts'
import { scrolledCard } from './card-view.ts'
import { edit, emptyLine, textOf } from './line-editor.ts'
import type { Card, Mode, Step, WatchModel } from './model.ts'
import { said } from './note.ts'
import { approvalOf, isOffered } from './pending.ts'
import { type Question, questionsOf } from './questions.ts'

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

const scopes: Readonly<Record<string, 'once' | 'session' | 'always'>> = {
  y: 'once',
  s: 'session',
  a: 'always',
}

type Asked = { readonly card: Card; readonly approval: ApprovalView; readonly question: Question }

function pressInQuestion(model: WatchModel, asked: Asked, key: string): Step {
  const { card, question } = asked
  if (key === ' ') return still(words(model, card, true))
  if (key === '<enter>' && question.isMany && card.marked.size > 0)
    return answered(model, asked, labelsOf(question, card.marked))
  const chosen = /^[1-9]$/.test(key) ? question.options[Number(key) - 1] : undefined
  if (chosen === undefined) return still(model)
  if (!question.isMany) return answered(model, asked, chosen.label)
  const marked = new Set(card.marked)
  if (!marked.delete(Number(key) - 1)) marked.add(Number(key) - 1)
  return still(shown(model, { ...card, marked }))
}

function labelsOf({ options }: Question, marked: ReadonlySet<number>): string {
  return options
    .filter((_, i) => marked.has(i))
    .map(({ label }) => label)
    .join(', ')
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

const still = (model: WatchModel): Step => ({ model, effects: [] })
