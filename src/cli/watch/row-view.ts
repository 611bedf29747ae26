import { type Colour, painter } from '../render/paint.ts'
import { isEnded } from '../render/session-lines.ts'
import { textWidth } from '../render/text-width.ts'
import type { Row } from './arrange.ts'
import { type Columns, idWidth, nameOf, stateWidth } from './columns.ts'
import { clip, fit, fitRight } from './fit.ts'
import { lineOf, type Piece, reversed, widthOfPieces } from './ink.ts'
import type { WatchModel } from './model.ts'
import { pendingOf } from './pending.ts'
import { isNews } from './selection.ts'
import { standingOf, wordsOf } from './standing.ts'

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
