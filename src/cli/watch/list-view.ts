import type { SessionView } from '../../contract/session-views.ts'
import { age as ageOf } from '../render/figures.ts'
import { type Colour, painter } from '../render/paint.ts'
import { isEnded, shownName } from '../render/session-lines.ts'
import { sessionFigures } from '../render/session-table.ts'
import { textWidth } from '../render/text-width.ts'
import { clip, fit, fitRight, lineOf, type Piece, reversed, widthOfPieces } from '../tui/lines.ts'
import type { Row } from './arrange.ts'
import { pendingOf, type WatchModel } from './model.ts'
import { isNews } from './selection.ts'
import { standingOf, wordsOf } from './session-state.ts'

/** A column of figures between the state and the words. */
type Column = {
  readonly title: string
  readonly width: number
  readonly text: (session: SessionView, now: number) => string
}

/** The columns of the list, which depend on what there is to show and how wide the screen is. */
export type Columns = {
  readonly name: number
  readonly hasId: boolean
  readonly figures: readonly Column[]
  readonly words: number
}

export const stateWidth = 11
export const idWidth = 8
const signWidth = 2
const narrowest = { name: 12, words: 12 }

const age: Column = { title: 'AGE', width: 5, text: ({ created_at }, now) => ageOf(created_at, now) }
const last: Column = {
  title: 'LAST',
  width: 5,
  text: ({ completed_at, last_activity_at }, now) => ageOf(completed_at ?? last_activity_at, now),
}
const context: Column = { ...sessionFigures.context, width: 4 }
const tokens: Column = { ...sessionFigures.tokens, width: 4 }
const cost: Column = { ...sessionFigures.cost, width: 6 }
const inOrder = [age, last, context, tokens, cost]
/** What goes first where there is little room. */
const dispensable = [cost, tokens, age, context]

/** Chooses columns; one that nobody has a figure for takes no room. */
export function columnsFor(rows: readonly Row[], width: number): Columns {
  const isUsed = (column: Column): boolean =>
    column === age || column === last || rows.some(({ session }) => column.text(session, 0) !== '')
  let figures = inOrder.filter(isUsed)
  let hasId = true
  const widest = Math.max(narrowest.name, ...rows.map(nameWidth))
  const roomFor = (name: number): number =>
    width -
    signWidth -
    name -
    (hasId ? 1 + idWidth : 0) -
    (1 + stateWidth) -
    figures.reduce((sum, column) => sum + 1 + column.width, 0) -
    1
  const leastName = Math.min(widest, 18)
  for (const column of dispensable) {
    if (roomFor(leastName) >= narrowest.words) break
    figures = figures.filter((one) => one !== column)
  }
  if (roomFor(narrowest.name) < narrowest.words) hasId = false
  // The name takes what it needs, up to a third of the line, and the words the rest.
  const most = Math.max(leastName, Math.min(Math.floor(width / 3), 40))
  const name = Math.max(
    Math.min(narrowest.name, width),
    Math.min(widest, most, leastName + Math.max(0, roomFor(leastName) - narrowest.words)),
  )
  return { name, hasId, figures, words: Math.max(0, roomFor(name)) }
}

/** A name with its branches and, when folded, with what is below it. */
function nameOf({ session, branch, below }: Row): { branch: string; name: string; below: string } {
  return {
    branch,
    name: `${below === undefined ? '' : '▸ '}${shownName(session)}`,
    below: below === undefined ? '' : ` +${below.count}`,
  }
}

function nameWidth(row: Row): number {
  const { branch, name, below } = nameOf(row)
  const blocked = row.below && row.below.blocked > 0 ? ` !${row.below.blocked}` : ''
  return textWidth(branch + name + below + blocked)
}

/** One line of the list. */
export function rowLine(model: WatchModel, row: Row, columns: Columns): string {
  const { session } = row
  const { size, now, color, selected } = model
  const isSelected = session.id === selected
  const isFaint =
    row.isContext || (isEnded(session) && !isNews(model, session)) || model.offline !== undefined
  const { sign, word, colour } = standingOf(session, now)
  const state: readonly Colour[] = isFaint ? ['dim'] : colour === 'dim' ? ['dim'] : ['bold', colour]
  const pieces: Piece[] = [
    [`${sign} `, ...state],
    ...namePieces(model, row, columns.name),
    ...(columns.hasId ? ([[` ${fit(session.session_id, idWidth)}`, 'dim']] as const) : []),
    [` ${fit(word, stateWidth)}`, ...(isFaint ? (['dim'] as const) : [colour])],
    ...columns.figures.map(
      (column): Piece => [
        ` ${fitRight(column.text(session, now), column.width)}`,
        ...figureColour(column.title, row, isFaint),
      ],
    ),
    [' '],
    ...wordPieces(model, row, columns.words),
  ]
  const paint = painter(color)
  if (!isSelected) return lineOf(pieces, size.columns, paint)
  // Colours of their own would make the bar a patchwork: all of it has the colour of the state.
  const bar = reversed(lineOf(pieces, size.columns, painter(false)))
  return isFaint || colour === 'dim' ? bar : paint(colour, bar)
}

/** A context that is nearly full is the one figure that asks for something. */
function figureColour(title: string, { session }: Row, isFaint: boolean): readonly Colour[] {
  const percent = session.context_percent ?? 0
  if (isFaint || title !== 'CTX' || percent < 80) return ['dim']
  return percent < 95 ? ['yellow'] : ['red']
}

function namePieces(model: WatchModel, row: Row, width: number): Piece[] {
  const { session, below } = row
  const { branch, name, below: count } = nameOf(row)
  const rollup: Piece[] = [
    [count, 'dim'],
    ...(below !== undefined && below.blocked > 0
      ? ([[` !${below.blocked}`, 'bold', 'yellow']] as const)
      : below !== undefined && below.trouble > 0
        ? ([[` ▲${below.trouble}`, 'yellow']] as const)
        : []),
  ]
  const room = Math.max(1, width - textWidth(branch) - widthOfPieces(rollup))
  const shown = clip(name, room)
  const isBypass = session.permission_mode === 'bypass' && !isEnded(session)
  const colours: readonly Colour[] = isBypass
    ? ['bold', 'red']
    : row.isContext || (isEnded(session) && !isNews(model, session))
      ? ['dim']
      : isNews(model, session)
        ? ['bold']
        : []
  const pieces: Piece[] = [[branch, 'dim'], [shown, ...colours], ...rollup]
  return [...pieces, [' '.repeat(Math.max(0, width - widthOfPieces(pieces)))]]
}

function wordPieces(model: WatchModel, { session, isContext }: Row, width: number): Piece[] {
  const isFaint = isContext || (isEnded(session) && !isNews(model, session)) || model.offline !== undefined
  const marks: Piece[] = [
    ...(isNews(model, session) ? ([['new ', 'bold', 'cyan']] as const) : []),
    ...(session.origin === 'observed' && !isEnded(session) ? ([['observed ', 'dim']] as const) : []),
    ...(session.permission_mode === 'bypass' && !isEnded(session) ? ([['bypass ', 'red']] as const) : []),
  ]
  const asked = pendingOf(model, session.session_id)?.action
  const room = width - widthOfPieces(marks)
  return [
    ...marks,
    [clip(wordsOf(session, asked), Math.max(0, room)), ...(isFaint ? (['dim'] as const) : [])],
  ]
}
