import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { SessionView } from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import { plural } from './amounts.ts'
import { clock } from './clock.ts'
import { age } from './durations.ts'
import { type Colour, type Paint, painter } from './paint.ts'
import { isEnded, lastWords, shownName, standsSince, statusColour } from './session-line.ts'
import { branch, treeOrder } from './session-tree.ts'
import { cut, pad, textWidth } from './text-width.ts'

const titles = ['SESSION', 'ID', 'STATUS', 'AGE', 'CTX', 'TOKENS', 'TASK'] as const
const widestName = 26
const smallestTask = 12
const separator = ' · '

/** All sessions as a tree: who waits for somebody is marked, who may do anything without asking is red. */
export function renderSessionTable({ sessions }: CommandOutput<'all'>, view: View): string {
  if (sessions.length === 0)
    return 'No sessions. sm spawn starts one; sm all --closed lists those that are over.'
  const paint = painter(view.color)
  const placed = treeOrder(sessions)
  const names = placed.map(({ session, level }) =>
    cut(`${branch(level).slice(2)}${shownName(session)}`, widestName),
  )
  const cells = placed.map(({ session }) => cellsOf(session, view.now))
  const nameWidth = Math.max(titles[0].length, ...names.map(textWidth))
  const widths = titles
    .slice(1, -1)
    .map((title, i) => Math.max(title.length, ...cells.map((row) => (row[i] ?? '').length)))
  const left = nameWidth + widths.reduce((sum, width) => sum + width + 2, 0) + 2
  const room = Math.max(smallestTask, view.width - left)
  const head = [pad(titles[0], nameWidth), ...aligned(titles.slice(1, -1), widths), titles.at(-1)].join('  ')
  const lines = placed.map(({ session }, i) => {
    const [id = '', status = '', ...rest] = aligned(cells[i] ?? [], widths)
    const colour = isBlocked(session) ? 'yellow' : statusColour(session.status)
    return [
      pad(names[i] ?? '', nameWidth),
      paint('dim', id),
      paint(colour, status),
      ...rest,
      taskOf(session, { room, now: view.now, paint }),
    ]
      .join('  ')
      .trimEnd()
  })
  const blocked = sessions.filter(isBlocked).length
  const waits =
    blocked === 0 ? '' : `, ${paint('yellow', `! ${blocked} ${blocked === 1 ? 'needs' : 'need'} you`)}`
  return [head, ...lines, '', `${plural(sessions.length, 'session')}${waits}`].join('\n')
}

/** Whether nothing goes on before somebody decides or answers. */
function isBlocked({ pending_approvals, waiting_for, status }: SessionView): boolean {
  if (isEnded({ status })) return false
  return (
    pending_approvals > 0 || (waiting_for !== null && waiting_for !== 'background' && waiting_for !== 'limit')
  )
}

function cellsOf(session: SessionView, now: number): string[] {
  const { status, context_percent, tokens_used } = session
  const word = status === 'waiting_input' ? 'waiting' : status
  return [
    session.session_id,
    isBlocked(session) ? `!${word}` : word,
    age(standsSince(session), now),
    context_percent === null ? '-' : `${Math.round(context_percent)}%`,
    tokens_used === 0 ? '-' : shortCount(tokens_used),
  ]
}

// The words in the first two columns begin at the left, the figures end at the right.
function aligned(cells: readonly string[], widths: readonly number[]): string[] {
  return cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
}

/** What it does, after what one should know first. */
function taskOf(
  session: SessionView,
  { room, now, paint }: { room: number; now: number; paint: Paint },
): string {
  const marks = isEnded(session) ? [] : marksOf(session, now)
  const text = cut(
    [...marks.map(({ word }) => word), lastWords(session)].filter(Boolean).join(separator),
    room,
  )
  return text
    .split(separator)
    .map((piece, i) => (marks[i] === undefined ? piece : paint(marks[i].colour, piece)))
    .join(separator)
}

function marksOf(session: SessionView, now: number): { word: string; colour: Colour }[] {
  const { permission_mode, health, waiting_for, limited_until } = session
  const until = limited_until === null ? '' : ` until ${clock(limited_until, now)}`
  return [
    ...(permission_mode === 'bypass' ? [{ word: 'bypass', colour: 'red' as const }] : []),
    ...(health === 'ok'
      ? []
      : [{ word: health === 'limited' ? `limited${until}` : health, colour: 'yellow' as const }]),
    ...(waiting_for === null ? [] : [{ word: waiting_for, colour: 'yellow' as const }]),
  ]
}

/** A count in at most four characters or so: `950`, `12k`, `1.2M`. */
function shortCount(value: number): string {
  if (value < 1000) return String(value)
  if (value < 999_500) return `${Math.round(value / 1000)}k`
  return `${Number((value / 1_000_000).toFixed(1))}M`
}
