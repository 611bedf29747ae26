import type { SessionView } from '../../contract/session-views.ts'
import { age as ageOf } from '../render/figures.ts'
import { shownName } from '../render/session-lines.ts'
import { sessionFigures } from '../render/session-table.ts'
import { textWidth } from '../render/text-width.ts'
import type { Row } from './arrange.ts'

/** A column of figures between the state and the words. */
export type Column = {
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
export function nameOf({ session, branch, below }: Row): { branch: string; name: string; below: string } {
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
