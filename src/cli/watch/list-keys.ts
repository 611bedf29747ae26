import type { SessionView } from '../../contract/session-views.ts'
import { isAgent, shownName } from '../render/session-lines.ts'
import { edit, emptyLine, textOf } from '../tui/line-editor.ts'
import { newCard } from './card.ts'
import { type Effect, type Mode, pendingOf, type Step, said, still, type WatchModel } from './model.ts'
import {
  isCursorShown,
  layoutOf,
  motionOf,
  rearranged,
  scrolled,
  selectAt,
  selectedIndex,
  selectedRow,
} from './selection.ts'
import { rankOf } from './session-state.ts'

/** A key while the list has the keyboard. */
export function pressInList(model: WatchModel, key: string): Step {
  // Nothing is done to a session that cannot be seen: the first key brings it back.
  if (model.rows.length > 0 && !isCursorShown(model) && !farKeys.has(key)) return still(scrolled(model))
  const by = motionOf(key, { page: layoutOf(model.size).list, total: model.rows.length })
  if (by !== undefined) return still(selectAt(model, Math.max(0, selectedIndex(model)) + by))
  switch (key) {
    case 'q':
    case '<c-c>':
      return { model, effects: [{ kind: 'quit' }] }
    case '?':
      return still({ ...model, mode: { kind: 'overlay', overlay: { what: 'help', scroll: 0 } } })
    case '/':
      return still({
        ...model,
        mode: { kind: 'search', line: { before: model.filter, after: '' }, before: model.filter },
      })
    case '<esc>':
      return still(model.filter === '' ? { ...model, note: undefined } : filtered(model, ''))
    case '<tab>':
      return still(toNextBlocked(model))
    default:
      return pressOnSession(model, key)
  }
}

const farKeys: ReadonlySet<string> = new Set([
  'g',
  'G',
  '<tab>',
  '<home>',
  '<end>',
  '/',
  '?',
  'q',
  '<c-c>',
  '<esc>',
])

/** A key that means something only for the selected session. */
function pressOnSession(model: WatchModel, key: string): Step {
  const row = selectedRow(model)
  if (row === undefined) return still(model)
  const { session } = row
  const target = { id: session.id, name: shownName(session) }
  if (isAgent(session) && ofSessions.has(key)) return still(said(model, 'plain', onlyInside(model, session)))
  const isOwn = session.origin === 'runtime' || isAgent(session)
  switch (key) {
    case '<enter>':
      return { model, effects: [{ kind: isOwn ? 'chat' : 'attach', ...target }] }
    case ' ':
      return still({ ...model, mode: { kind: 'reply', ...target, line: emptyLine } })
    case 'y':
    case 'n':
      return still(openCard(model, session.inside_session_id ?? session.session_id, target.name))
    case 'i':
      return act(model, { kind: 'interrupt', ...target }, `interrupting ${target.name}…`)
    case 'x':
      return still({ ...model, mode: { kind: 'kill', ...target } })
    case 'f':
    case '<left>':
    case '<right>':
      return still(foldedBy(model, key))
    case 'e':
      return {
        model: { ...model, mode: overlay({ what: 'explain', ...target, explained: undefined, scroll: 0 }) },
        effects: [{ kind: 'explain', ...target }],
      }
    case 'o':
      return {
        model: {
          ...model,
          mode: overlay({ what: 'output', ...target, lines: undefined, isAlive: true, isOwn, scroll: 0 }),
        },
        effects: [{ kind: 'output', ...target }],
      }
    default:
      return still(model)
  }
}

/** What can be done to a session and to no agent inside of it. */
const ofSessions: ReadonlySet<string> = new Set(['<enter>', ' ', 'i', 'e'])

function onlyInside({ sessions }: WatchModel, agent: SessionView): string {
  const session = sessions.find(({ session_id }) => session_id === agent.inside_session_id)
  const place = session === undefined ? (agent.inside_session_id ?? '') : shownName(session)
  return `${shownName(agent)} works inside of ${place}: choose that; o shows what it did`
}

const overlay = (shown: Extract<Mode, { kind: 'overlay' }>['overlay']): Mode => ({
  kind: 'overlay',
  overlay: shown,
})

const act = (model: WatchModel, effect: Effect, text: string): Step => ({
  model: said(model, 'plain', text),
  effects: [effect],
})

function openCard(model: WatchModel, sessionId: string, name: string): WatchModel {
  const approval = pendingOf(model, sessionId)
  return approval === undefined
    ? said(model, 'plain', `${name} is not waiting for a decision; Enter attaches, Space replies`)
    : { ...model, mode: { kind: 'card', card: newCard(approval.approval_id) } }
}

/** The next session that waits for somebody, from the cursor on and around. */
function toNextBlocked(model: WatchModel): WatchModel {
  const { rows } = model
  const at = selectedIndex(model)
  const order = rows.map((_, i) => (at + 1 + i) % rows.length)
  const next = order.find((i) => {
    const row = rows[i]
    return row !== undefined && (rankOf(row.session) === 'blocked' || (row.below?.blocked ?? 0) > 0)
  })
  return next === undefined ? said(model, 'plain', 'no session is waiting for you') : selectAt(model, next)
}

/** Folds what is below the selected session, or below its parent when it has none itself. */
function foldedBy(model: WatchModel, key: string): WatchModel {
  const row = selectedRow(model)
  if (row === undefined) return model
  const { session } = row
  const folded = new Set(model.folded)
  if (key !== '<left>' && folded.delete(session.id)) return rearranged({ ...model, folded })
  if (key === '<right>') return model
  const hasChildren = model.sessions.some(({ parent_session_id }) => parent_session_id === session.session_id)
  const parent = model.sessions.find(({ session_id }) => session_id === session.parent_session_id)
  const target = hasChildren && !folded.has(session.id) ? session : parent
  if (target === undefined) return model
  return rearranged({ ...model, folded: folded.add(target.id), selected: target.id })
}

/** A key while something is looked for: the list follows each letter. */
export function pressInSearch(model: WatchModel, mode: Extract<Mode, { kind: 'search' }>, key: string): Step {
  if (key === '<esc>' || key === '<c-c>') return still({ ...filtered(model, ''), mode: { kind: 'list' } })
  if (key === '<enter>') return still({ ...model, mode: { kind: 'list' } })
  if (key === '<up>' || key === '<down>') return still({ ...pressInList(model, key).model, mode })
  const line = edit(mode.line, key)
  return still({ ...filtered(model, textOf(line)), mode: { ...mode, line } })
}

function filtered(model: WatchModel, filter: string): WatchModel {
  return filter === model.filter ? model : rearranged({ ...model, filter })
}

/** A key while a reply is typed. */
export function pressInReply(model: WatchModel, mode: Extract<Mode, { kind: 'reply' }>, key: string): Step {
  const { id, name, line } = mode
  if (key === '<esc>' || key === '<c-c>') return still({ ...model, mode: { kind: 'list' } })
  if (key !== '<enter>') return still({ ...model, mode: { ...mode, line: edit(line, key) } })
  const text = textOf(line).trim()
  const list: WatchModel = { ...model, mode: { kind: 'list' } }
  return text === '' ? still(list) : act(list, { kind: 'send', id, name, text }, `sending to ${name}…`)
}

/** The key after `x`: only the same again ends the session. */
export function pressInKill(model: WatchModel, mode: Extract<Mode, { kind: 'kill' }>, key: string): Step {
  const list: WatchModel = { ...model, mode: { kind: 'list' } }
  if (key === 'x') return act(list, { kind: 'kill', id: mode.id, name: mode.name }, `ending ${mode.name}…`)
  return still(said(list, 'plain', `${mode.name} goes on`))
}
