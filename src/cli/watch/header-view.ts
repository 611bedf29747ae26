import type { SessionView } from '../../contract/session-views.ts'
import { plural } from '../render/figures.ts'
import { type Colour, painter } from '../render/paint.ts'
import { isAgent, isEnded } from '../render/session-lines.ts'
import { fit, fitRight, lineBetween, lineOf, type Piece } from '../tui/lines.ts'
import { type Columns, idWidth, stateWidth } from './list-view.ts'
import type { WatchModel } from './model.ts'
import { isDismissed, isNews, layoutOf } from './selection.ts'
import { type Rank, rankOf, ranks } from './session-state.ts'

const shown: Readonly<Record<Rank, { sign: string; word: string; colours: readonly Colour[] }>> = {
  blocked: { sign: '!', word: 'need you', colours: ['bold', 'yellow'] },
  trouble: { sign: '▲', word: 'in trouble', colours: ['red'] },
  running: { sign: '●', word: 'running', colours: ['green'] },
  idle: { sign: '○', word: 'idle', colours: [] },
  ended: { sign: '✓', word: 'ended', colours: ['dim'] },
}

/** The first line: how many sessions stand how, and whether the daemon is there. */
export function headerLine(model: WatchModel): string {
  const { size, color, offline, isLoaded, filter, rows, mode } = model
  const listed = model.sessions.filter((session) => !isDismissed(model, session))
  const sessions = listed.filter((one) => !isAgent(one))
  const counts = new Map<Rank, number>()
  for (const session of sessions) counts.set(rankOf(session), (counts.get(rankOf(session)) ?? 0) + 1)
  const news = sessions.filter((session) => isNews(model, session)).length
  const figures = ranks.flatMap((rank): Piece[] => {
    const count = counts.get(rank) ?? 0
    if (count === 0) return []
    const { sign, word, colours } = shown[rank]
    return [
      ['  '],
      [`${sign} ${count} ${rank === 'blocked' && count === 1 ? 'needs you' : word}`, ...colours],
      ...(rank === 'ended' && news > 0 ? ([[`, ${news} new`, 'bold', 'cyan']] as const) : []),
    ]
  })
  const state: Piece[] =
    offline !== undefined
      ? [['  daemon gone, reconnecting', 'bold', 'red']]
      : !isLoaded
        ? [['  connecting…', 'dim']]
        : figures
  const right: Piece[] =
    filter !== '' && mode.kind !== 'search'
      ? [
          [`/${filter}`, 'cyan'],
          [` ${rows.filter(({ isContext }) => !isContext).length} found `, 'dim'],
        ]
      : [[`${[plural(sessions.length, 'session'), ...agentWords(model, listed)].join(', ')} `, 'dim']]
  return lineBetween({ left: [[' muster', 'bold'], ...state], right }, size.columns, painter(color))
}

/** How many agents work inside of the sessions, and how many that have ended are not shown. */
function agentWords({ hidden }: WatchModel, listed: readonly SessionView[]): string[] {
  const agents = listed.filter(isAgent).length
  const ended = listed.reduce((sum, { ended_agents }) => sum + ended_agents, 0)
  const shown = listed.filter((one) => isEnded(one) && !one.is_alive).length
  const left = Math.max(0, hidden + ended - shown)
  return [...(agents > 0 ? [plural(agents, 'agent')] : []), ...(left > 0 ? [`${left} ended hidden`] : [])]
}

/** The titles of the columns, and which part of a long list is shown. */
export function titleLine(model: WatchModel, columns: Columns): string {
  const { size, color, rows, offset } = model
  const { list } = layoutOf(size)
  const titles = [
    `  ${fit('SESSION', columns.name)}`,
    ...(columns.hasId ? [` ${fit('ID', idWidth)}`] : []),
    ` ${fit('STATE', stateWidth)}`,
    ...columns.figures.map(({ title, width }) => ` ${fitRight(title, width)}`),
  ].join('')
  const part =
    rows.length > list ? `${offset + 1}–${Math.min(rows.length, offset + list)} of ${rows.length} ` : ''
  const words = part.length + 6 > columns.words ? '' : ' TASK'
  if (part !== '' && columns.words < part.length + 1)
    return lineOf([[titles, 'dim']], size.columns, painter(color))
  return lineBetween(
    { left: [[titles + words, 'dim']], right: [[part, 'dim']] },
    size.columns,
    painter(color),
  )
}
