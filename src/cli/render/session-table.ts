import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { SessionView } from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import { age, clock, money, plural, shortCount } from './figures.ts'
import { type Colour, type Paint, painter } from './paint.ts'
import {
  isAgent,
  isEnded,
  lastWords,
  type Placed,
  shownName,
  standsSince,
  statusColour,
  statusOf,
  treeOrder,
} from './session-lines.ts'
import { type Column, table } from './table.ts'

/** All sessions as a tree: who waits for somebody is marked, who may do anything without asking is red. */
export function renderSessionTable({ sessions, hidden }: CommandOutput<'all'>, view: View): string {
  if (sessions.length === 0) return 'No sessions. sm spawn starts one; sm all --closed lists ended ones.'
  const paint = painter(view.color)
  const rows = table(treeOrder(sessions), columns(view, paint), view.width)
  return [rows, '', totals(sessions, hidden, paint)].join('\n')
}

/** Figures of a session that more than one list shows; empty where there is none. */
export const sessionFigures = {
  context: {
    title: 'CTX',
    text: ({ context_percent }: SessionView) =>
      context_percent === null ? '' : `${Math.round(context_percent)}%`,
  },
  tokens: {
    title: 'TOK',
    text: ({ tokens_used }: SessionView) => (tokens_used === 0 ? '' : shortCount(tokens_used)),
  },
  cost: {
    title: 'COST',
    text: ({ cost_usd, cost_is_estimate }: SessionView) =>
      cost_usd === null ? '' : money(cost_usd, cost_is_estimate),
  },
} as const

/** The columns of `sm all`. */
function columns({ now }: View, paint: Paint): Column<Placed>[] {
  const figure = ({ title, text }: { title: string; text: (session: SessionView) => string }) =>
    ({ title, align: 'right', cell: ({ session }: Placed) => text(session) || '-' }) as const
  return [
    {
      title: 'SESSION',
      cell: ({ session, branch }) => `${branch}${shownName(session)}`,
      isElastic: { keeps: 14 },
    },
    { title: 'ID', cell: ({ session }) => session.session_id, paint: (text) => paint('dim', text) },
    {
      title: 'STATUS',
      cell: ({ session }) => statusWord(session),
      paint: (text, { session }) =>
        paint(
          isBlocked(session) && session.status !== 'failed' && !isLost(session)
            ? 'yellow'
            : statusColour(session.status),
          text,
        ),
    },
    { title: 'AGE', align: 'right', cell: ({ session }) => age(standsSince(session), now) },
    figure(sessionFigures.context),
    figure(sessionFigures.tokens),
    {
      title: 'TASK',
      cell: ({ session }) =>
        [...marksOf(session, now).map(({ word }) => word), lastWords(session)]
          .filter(Boolean)
          .join(separator),
      isElastic: { keeps: 18 },
      paint: (text, { session }) => paintedTask(text, marksOf(session, now), paint),
    },
  ]
}

function totals(all: readonly SessionView[], endedSessions: number, paint: Paint): string {
  const agents = all.filter(isAgent)
  const sessions = all.filter((one) => !isAgent(one))
  const blocked = sessions.filter(isBlocked).length
  const endedAgents = sessions.reduce((sum, { ended_agents }) => sum + ended_agents, 0)
  const hidden = Math.max(0, endedSessions + endedAgents - agents.filter(isEnded).length)
  return [
    plural(sessions.length, 'session'),
    ...(agents.length > 0 ? [plural(agents.length, 'agent')] : []),
    ...(blocked > 0 ? [paint('yellow', `! ${blocked} ${blocked === 1 ? 'needs' : 'need'} you`)] : []),
    ...(hidden > 0 ? [paint('dim', `${hidden} ended hidden (sm all --closed)`)] : []),
  ].join(', ')
}

/** Whether nothing goes on before somebody decides or answers. */
function isBlocked(session: SessionView): boolean {
  const { pending_approvals, waiting_for, status } = session
  if (isLost(session)) return true
  if (isEnded({ status })) return false
  return (
    status === 'failed' ||
    pending_approvals > 0 ||
    (waiting_for !== null && waiting_for !== 'background' && waiting_for !== 'limit')
  )
}

/** Its program is dead, but it has not ended: somebody may bring it back. */
const isLost = ({ status, completed_at }: SessionView): boolean => status === 'error' && completed_at === null

function statusWord(session: SessionView): string {
  if (session.status === 'failed' || isLost(session)) return `!${session.status}`
  if (isBlocked(session)) return `!${session.waiting_for ?? 'approval'}`
  return session.status === 'waiting_input' ? 'waiting' : statusOf(session)
}

const separator = ' · '

type Mark = { readonly word: string; readonly colour: Colour }

function paintedTask(text: string, marks: readonly Mark[], paint: Paint): string {
  return text
    .split(separator)
    .map((piece, i) => (marks[i] === undefined ? piece : paint(marks[i].colour, piece)))
    .join(separator)
}

/** What one should know of a session before what it does. */
function marksOf(session: SessionView, now: number): Mark[] {
  if (isEnded(session)) return []
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
