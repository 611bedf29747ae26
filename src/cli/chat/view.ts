import { elapsed } from '../render/figures.ts'
import { graphemeWidth } from '../render/grapheme-width.ts'
import { graphemes } from '../render/graphemes.ts'
import { type Colour, painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { cut, textWidth } from '../render/text-width.ts'
import type { Placed } from '../tui/inline-screen.ts'
import { cardView } from './card.ts'
import { wordLine } from './chat-lines.ts'
import { type ChatModel, type LiveRun, roomOf } from './model.ts'

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const mostRuns = 4
const mostWaiting = 3
const tones = { good: 'green', bad: 'red', plain: 'yellow' } as const satisfies Record<string, Colour>

/** The end of the screen, which is drawn anew: what comes just now, who works, what is asked, and the line to type in. */
export function view(model: ChatModel): Placed {
  const words = partial(model)
  const status = [...model.runs.values()].slice(0, mostRuns).map((run) => statusLine(model, run))
  const waiting = waitingLines(model)
  const notes = noteLines(model)
  const input = inputView(model, placeholderOf(model))
  const fixed = words.length + status.length + waiting.length + notes.length + input.lines.length + 4
  const card = model.card === undefined ? [] : cardView(model, model.card, model.size.rows - fixed)
  const above = [...words, ...status, ...waiting, ...card, ...notes, '']
  const lines = [...above, ...input.lines, barLine(model)]
  // What does not fit cannot be drawn anew: it would scroll away.
  const hidden = Math.max(0, lines.length - (model.size.rows - 1))
  return {
    lines: lines.slice(hidden),
    cursor: { row: above.length + input.cursor.row - hidden, column: input.cursor.column },
  }
}

function partial(model: ChatModel): string[] {
  return [...model.runs.values()].flatMap((run) => {
    if (run.rest.trim() === '') return []
    const line = wordLine(model, run.rest, { isFirst: !run.isLineBegun, agent: run.agent })
    return run.isLineBegun ? [line] : ['', line]
  })
}

function statusLine(model: ChatModel, run: LiveRun): string {
  const paint = painter(model.color)
  const mark = spinner[Math.floor(model.now / 120) % spinner.length] ?? ''
  const lead = `${run.isBelow ? '    ' : '  '}${mark} `
  const time = elapsed(Math.floor(Math.max(0, model.now - run.sinceMs) / 1000) * 1000)
  const end = `  ${time === '0 ms' ? '' : time.replace('.0 s', ' s')}`
  const what = `${run.agent}  ${oneLine(run.detail)}`
  const shown = cut(what, roomOf(model) - textWidth(lead) - textWidth(end))
  return paint('cyan', lead) + paint('dim', shown + end)
}

function waitingLines(model: ChatModel): string[] {
  const paint = painter(model.color)
  const { waiting } = model
  const lines = waiting.slice(0, mostWaiting).map(({ text, id, agent }) => {
    const to = agent === undefined || agent === model.agent || text.startsWith('@') ? '' : `@${agent} `
    const end = id === undefined ? '  sending' : '  queued'
    const shown = cut(`${to}${oneLine(text.slice(0, 400))}`, roomOf(model) - 2 - end.length)
    return `${paint('dim', `› ${shown}`)}${paint('yellow', end)}`
  })
  const more = waiting.length - mostWaiting
  return more > 0 ? [...lines, paint('dim', `  and ${more} more: /queue`)] : lines
}

function noteLines(model: ChatModel): string[] {
  const paint = painter(model.color)
  const shown = (text: string, tone: Colour) => `  ${paint(tone, cut(oneLine(text), roomOf(model) - 2))}`
  return [
    ...(model.offline === undefined ? [] : [shown(`${model.offline}; trying again`, 'red')]),
    ...(model.note === undefined ? [] : [shown(model.note.text, tones[model.note.tone])]),
  ]
}

function placeholderOf({ card, agent }: ChatModel): string {
  if (card?.isRefusing) return 'why not?'
  return card?.approval.subject === 'question' ? 'your answer' : `say something to ${agent}`
}

/** Whom one speaks with, and the keys that matter now. */
function barLine(model: ChatModel): string {
  const paint = painter(model.color)
  const { agent, mode, session } = model
  const left = `  ${[agent, mode, session].filter(Boolean).join(' · ')}`
  const right = model.runs.size > 0 ? 'esc stops  /help' : 'ctrl-d quits  /help'
  const gap = roomOf(model) - textWidth(left) - textWidth(right)
  return paint('dim', gap < 2 ? cut(left, roomOf(model)) : `${left}${' '.repeat(gap)}${right}`)
}

const mostRows = 8
const indent = 2

/** What is being typed, over as many lines as it takes, with the cursor where it is. */
function inputView(model: ChatModel, placeholder: string): Placed {
  const paint = painter(model.color)
  const width = roomOf(model) - indent
  const { before, after } = model.line
  const prompt = paint('cyan', '› ')
  if (before + after === '')
    return {
      lines: [prompt + paint('dim', cut(placeholder, width))],
      cursor: { row: 0, column: indent },
    }
  const head = hardLines(before, width)
  const all = hardLines(before + after, width)
  const row = head.length - 1
  const from = Math.max(0, Math.min(row - mostRows + 1, all.length - mostRows))
  return {
    lines: all.slice(from, from + mostRows).map((line, i) => (from + i === 0 ? prompt : '  ') + line),
    cursor: { row: row - from, column: indent + textWidth(head.at(-1) ?? '') },
  }
}

/** Lines of exactly the columns there are: where one ends does not depend on what comes after it. */
function hardLines(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines = ['']
    let used = 0
    for (const grapheme of graphemes(line)) {
      const wide = graphemeWidth(grapheme)
      if (used + wide > width) {
        lines.push('')
        used = 0
      }
      lines.push((lines.pop() ?? '') + grapheme)
      used += wide
    }
    return lines
  })
}
