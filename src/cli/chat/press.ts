import { edit, emptyLine, isCharacter, type Line, textOf } from '../watch/line-editor.ts'
import { calmed, pressOnCard } from './card.ts'
import { acted, type ChatModel, mainRuns, type Step, still } from './model.ts'
import { submit } from './submit.ts'

/** Within so long after the first Ctrl-C another one leaves. */
const leaveMs = 2000

/** What a key does to a chat. */
export function press(model: ChatModel, key: string): Step {
  const onCard = model.card && pressOnCard(model, model.card, key)
  if (onCard !== undefined) return onCard
  switch (key) {
    case '<enter>':
      return enter(model)
    case '<a-enter>':
      return typed(model, { before: `${model.line.before}\n`, after: model.line.after })
    case '<esc>':
    case '<c-c>':
      return stop(model, key)
    case '<c-d>':
      return textOf(model.line) === '' ? acted(model, { kind: 'leave' }) : typed(model, edit(model.line, key))
    case '<c-l>':
      return acted(model, { kind: 'redraw' })
    case '<c-z>':
      return acted(model, { kind: 'suspend' })
    case '<up>':
      return recalled(model, -1)
    case '<down>':
      return recalled(model, 1)
    default:
      return typed(model, edit(model.line, key), isCharacter(key))
  }
}

/** Puts a pasted text in; its lines stay lines. */
export function paste(model: ChatModel, text: string): Step {
  const { before, after } = model.line
  const clean = text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\t', '  ')
    .replaceAll(/[^\P{Cc}\n]/gu, '')
  return typed(model, { before: before + clean, after }, true)
}

function typed(model: ChatModel, line: Line, isText = false): Step {
  const next = { ...model, line, note: undefined }
  return still(isText ? calmed(next) : next)
}

function enter(model: ChatModel): Step {
  const text = textOf(model.line)
  // Where a terminal has no key for it, a backslash says that the text goes on.
  if (text.endsWith('\\') && model.line.after === '')
    return typed(model, { before: `${text.slice(0, -1)}\n`, after: '' })
  return submit(model, text)
}

/** Stops what is done, leaves what is typed, or leaves altogether. */
function stop(model: ChatModel, key: '<esc>' | '<c-c>'): Step {
  if (model.now < model.leaveUntilMs) return acted(model, { kind: 'leave' })
  const leaveUntilMs = model.now + leaveMs
  const leaving = (text: string): ChatModel => ({
    ...model,
    leaveUntilMs,
    note: { tone: 'plain', text, untilMs: leaveUntilMs },
  })
  const runIds = mainRuns(model).map(([runId]) => runId)
  if (runIds.length > 0)
    return acted(leaving(`stopping; ${nameOf(key)} once more leaves`), { kind: 'cancel', runIds })
  if (textOf(model.line) !== '') return typed(model, emptyLine)
  if (key === '<esc>') return still({ ...model, note: undefined })
  return still(leaving('ctrl-c once more leaves'))
}

const nameOf = (key: '<esc>' | '<c-c>'): string => (key === '<esc>' ? 'esc' : 'ctrl-c')

/** Goes through what was said before; what was being typed comes back at its end. */
function recalled(model: ChatModel, by: -1 | 1): Step {
  const { history, at } = model
  const next = Math.min(history.length, Math.max(0, at + by))
  if (next === at) return still(model)
  const draft = at === history.length ? textOf(model.line) : model.draft
  const before = next === history.length ? draft : (history[next] ?? '')
  return still({ ...model, at: next, draft, line: { before, after: '' } })
}
