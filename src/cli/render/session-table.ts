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

const figures = ['ID', 'STATUS', 'AGE', 'CTX', 'TOK'] as const
const gap = '  '
const separator = ' · '
/** Room that the task gets before a name may be whole, and what is left of a name at least. */
const taskWidth = 18
const smallestName = 14

/** All sessions as a tree: who waits for somebody is marked, who may do anything without asking is red. */
export function renderSessionTable({ sessions }: CommandOutput<'all'>, view: View): string {
  if (sessions.length === 0)
    return 'No sessions. sm spawn starts one; sm all --closed lists those that are over.'
  const paint = painter(view.color)
  const placed = treeOrder(sessions)
  const cells = placed.map(({ session }) => cellsOf(session, view.now))
  const widths = figures.map((title, i) =>
    Math.max(title.length, ...cells.map((row) => (row[i] ?? '').length)),
  )
  const fixed = widths.reduce((sum, width) => sum + width + gap.length, gap.length)
  const widest = Math.max(smallestName, view.width - fixed - taskWidth)
  const names = placed.map(({ session, level }) =>
    cut(`${branch(level).slice(2)}${shownName(session)}`, widest),
  )
  const nameWidth = Math.max('SESSION'.length, ...names.map(textWidth))
  const room = Math.max(8, view.width - fixed - nameWidth)
  const lines = placed.map(({ session }, i) => {
    const [id = '', status = '', ...rest] = aligned(cells[i] ?? [], widths)
    const colour = isBlocked(session) ? 'yellow' : statusColour(session.status)
    const task = taskOf(session, { room, now: view.now, paint })
    return [pad(names[i] ?? '', nameWidth), paint('dim', id), paint(colour, status), ...rest, task]
      .join(gap)
      .trimEnd()
  })
  const head = [pad('SESSION', nameWidth), ...aligned(figures, widths), 'TASK'].join(gap)
  return [head, ...lines, '', totals(sessions, paint)].join('\n')
}

function totals(sessions: readonly SessionView[], paint: Paint): string {
  const blocked = sessions.filter(isBlocked).length
  if (blocked === 0) return plural(sessions.length, 'session')
  return `${plural(sessions.length, 'session')}, ${paint('yellow', `! ${blocked} ${blocked === 1 ? 'needs' : 'need'} you`)}`
}

/** Whether nothing goes on before somebody decides or answers. */
function isBlocked({ pending_approvals, waiting_for, status }: SessionView): boolean {
  if (isEnded({ status })) return false
  return (
    pending_approvals > 0 || (waiting_for !== null && waiting_for !== 'background' && waiting_for !== 'limit')
  )
}

function cellsOf(session: SessionView, now: number): string[] {
  const { status, waiting_for, context_percent, tokens_used } = session
  const word = status === 'waiting_input' ? 'waiting' : status
  return [
    session.session_id,
    isBlocked(session) ? `!${waiting_for ?? 'approval'}` : word,
    age(standsSince(session), now),
    context_percent === null ? '-' : `${Math.round(context_percent)}%`,
    tokens_used === 0 ? '-' : shortCount(tokens_used),
  ]
}

// Words begin at the left, figures end at the right.
function aligned(cells: readonly string[], widths: readonly number[]): string[] {
  return cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
}

type Room = { readonly room: number; readonly now: number; readonly paint: Paint }

/** What it does, after what one should know first. */
function taskOf(session: SessionView, { room, now, paint }: Room): string {
  const marks = isEnded(session) ? [] : marksOf(session, now)
  const words = [...marks.map(({ word }) => word), lastWords(session)].filter(Boolean)
  return cut(words.join(separator), room)
    .split(separator)
    .map((piece, i) => (marks[i] === undefined ? piece : paint(marks[i].colour, piece)))
    .join(separator)
}

function marksOf(session: SessionView, now: number): { word: string; colour: Colour }[] {
  const { permission_mode, health, waiting_for, limited_until, alerts } = session
  const until = limited_until === null ? '' : ` until ${clock(limited_until, now)}`
  return [
    ...(session.origin === 'observed' ? [{ word: 'observed', colour: 'dim' as const }] : []),
    ...(permission_mode === 'bypass' ? [{ word: 'bypass', colour: 'red' as const }] : []),
    ...(health === 'ok'
      ? []
      : [{ word: health === 'limited' ? `limited${until}` : health, colour: 'yellow' as const }]),
    ...alerts.map(({ kind }) => ({ word: `alert: ${kind.replace('_', ' ')}`, colour: 'red' as const })),
    ...(waiting_for === 'background' ? [{ word: 'background', colour: 'cyan' as const }] : []),
  ]
}

/** A count in four characters or so: `950`, `12k`, `1.2M`. */
function shortCount(value: number): string {
  if (value < 1000) return String(value)
  if (value < 999_500) return `${Math.round(value / 1000)}k`
  return `${Number((value / 1_000_000).toFixed(1))}M`
}
