import { type Paint, painter } from '../render/paint.ts'
import { oneLine, plainLines } from '../render/safe-text.ts'
import { clip, fold } from '../watch/fit.ts'
import { textOf } from '../watch/line-editor.ts'
import { openQuestion } from './card.ts'
import { type Card, type ChatModel, roomOf } from './model.ts'

const bar = '│ '
const risks = { low: 'dim', medium: 'yellow', high: 'red' } as const

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
    question !== undefined || risk === null || risk === 'low' ? '' : `  ${paint(risks[risk], `${risk} risk`)}`
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
  const keys = isPlan ? '[y] yes  [n] no' : '[y] once  [s] this session  [a] always  [n] no'
  if (isRefusing) return [head, body, 'no: type why, or nothing; [enter] sends, [esc] goes back']
  if (armed !== undefined) return [head, body, `this is risky: [${armed}] once more says yes, [n] says no`]
  if (textOf(line) !== '') return [head, body, `[ctrl-u] empties the line, then ${keys}`]
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
  const choosing = question?.isMany ? `[${keys}] marks, [enter] sends; or ` : `[${keys}] chooses; or `
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
