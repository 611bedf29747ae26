import type { SessionView } from '../../contract/session-views.ts'
import { age, ago, clock, money, shortCount } from '../render/figures.ts'
import { painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { isEnded, shownName } from '../render/session-lines.ts'
import { lineOf, type Piece, widthOfPieces } from '../tui/lines.ts'
import { pendingOf, type WatchModel } from './model.ts'
import { selectedRow } from './selection.ts'
import { standingOf } from './session-state.ts'

/** What the row of the selected session has no room for, under a rule with its name. */
export function detailLines(model: WatchModel, count: number): string[] {
  const { size, color, now } = model
  const paint = painter(color)
  const session = selectedRow(model)?.session
  const blank = Array.from({ length: count }, () => lineOf([], size.columns, paint))
  if (session === undefined)
    return [lineOf([['─'.repeat(size.columns), 'dim']], size.columns, paint), ...blank]
  const { word, colour } = standingOf(session, now)
  const head: Piece[] = [
    ['── ', 'dim'],
    [shownName(session), 'bold'],
    [` ${session.session_id} `, 'dim'],
    [word, colour],
    ...(session.permission_mode === 'bypass' ? ([[' bypass', 'bold', 'red']] as const) : []),
    [' '],
  ]
  const rule: Piece = ['─'.repeat(Math.max(0, size.columns - widthOfPieces(head))), 'dim']
  const lines = [whatLine(model, session), ...wordLines(model, session), figureLine(session)]
    .filter((pieces) => pieces.length > 0)
    .slice(0, count)
    .map((pieces) => lineOf([[' '], ...pieces], size.columns, paint))
  return [lineOf([...head, rule], size.columns, paint), ...lines, ...blank].slice(0, count + 1)
}

/** What stands out about it now: the question, the end, or why it stands as it does. */
function whatLine(model: WatchModel, session: SessionView): Piece[] {
  const { now } = model
  const approval = pendingOf(model, session.session_id)
  if (approval !== undefined) {
    const { subject, action, risk, requested_at } = approval
    return [
      ['asks ', 'yellow'],
      ...(risk === 'high' ? ([['high risk ', 'bold', 'red']] as const) : []),
      [`${age(requested_at, now)} `, 'dim'],
      [line(action)],
      [subject === 'question' ? '  (y answers)' : '  (y shows it)', 'dim'],
    ]
  }
  if (isEnded(session)) {
    const said = line(session.completion_message ?? '')
    return [
      [`${session.status} ${ago(session.completed_at ?? session.last_activity_at, now)}`, 'dim'],
      ...(said === '' ? [] : ([[`  “${said}”`]] as const)),
    ]
  }
  if (session.limited_until !== null)
    return [[`limited until ${clock(session.limited_until, now)}`, 'yellow']]
  return session.detail === null || session.detail === '' ? [] : [[line(session.detail)]]
}

function wordLines(model: WatchModel, session: SessionView): Piece[][] {
  const { current_task, last_checkpoint, spawn_prompt } = session
  const task = current_task ?? (last_checkpoint === null ? spawn_prompt : null)
  return [
    task === null || task === '' ? [] : [['task ', 'dim'], [line(task)]],
    last_checkpoint === null ? [] : [['milestone ', 'dim'], [line(last_checkpoint)]],
  ]
}

function figureLine(session: SessionView): Piece[] {
  const { cli, model, permission_mode, working_dir, queued_messages, attached, children, lock } = session
  const why = session.queued_reason === null ? '' : ` (${oneLine(session.queued_reason)})`
  const below =
    children > 0 && session.subtree_tokens > session.tokens_used
      ? `with all below ${shortCount(session.subtree_tokens)} tokens${session.subtree_cost_usd === null ? '' : ` ${money(session.subtree_cost_usd, session.subtree_cost_is_estimate)}`}`
      : ''
  const words = [
    [cli, model].filter(Boolean).join(' '),
    permission_mode ?? '',
    queued_messages > 0 ? `${queued_messages} queued${why}` : '',
    attached > 0 ? 'attached' : '',
    lock === null ? '' : `locked: ${line(lock)}`,
    below,
    working_dir ?? '',
  ]
  return [[words.filter(Boolean).join(' · '), 'dim']]
}

const line = (text: string): string => oneLine(text.slice(0, 1000)).replaceAll(/\s+/g, ' ')
