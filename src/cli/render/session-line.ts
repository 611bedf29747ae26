import type { SessionView } from '../../contract/session-views.ts'
import { oneLine } from './one-line.ts'
import { type Colour, painter } from './paint.ts'
import { relativeTime } from './relative-time.ts'
import { cut, pad, textWidth } from './text-width.ts'

type Named = { readonly name: string; readonly friendly_name: string | null; readonly session_id: string }

// A text of any length could come from an agent; more of it than this helps nobody in a list.
const longestText = 200

/** What people call a session. */
export function shownName({ friendly_name, name }: Omit<Named, 'session_id'>): string {
  return oneLine(friendly_name ?? name)
}

/** A session by its name and its short id: `engineer-task1042 (abc123)`. */
export function titleOf(session: Named): string {
  return `${shownName(session)} (${session.session_id})`
}

const ends: ReadonlySet<string> = new Set(['completed', 'error', 'abandoned', 'killed', 'cancelled'])

/** Whether a session has come to an end; it may be reopened. */
export function isEnded({ status }: { readonly status: string }): boolean {
  return ends.has(status)
}

/** The colour of a state. */
export function statusColour(status: string): Colour {
  if (status === 'error' || status === 'killed' || status === 'abandoned') return 'red'
  if (status === 'waiting_input') return 'yellow'
  if (status === 'running' || status === 'completed') return 'green'
  return 'dim'
}

/** What a session said last: its result in quotes once it has ended, else what it does. */
export function lastWords(session: SessionView): string {
  const { completion_message, current_task, last_checkpoint, detail, spawn_prompt } = session
  if (isEnded(session)) {
    const said = oneLine(completion_message?.slice(0, longestText * 2) ?? '')
    return said === '' ? '' : `"${cut(said, longestText)}"`
  }
  // An agent of our own shows no screen; what it was asked first says what it is about.
  const asked = session.origin === 'runtime' || session.origin === 'workflow' ? spawn_prompt : null
  const words = current_task ?? last_checkpoint ?? detail ?? asked ?? ''
  return cut(oneLine(words.slice(0, longestText * 2)), longestText)
}

/** Since when a session stands as it does: its end, its last activity while it rests, else its start. */
export function standsSince(session: SessionView): string {
  if (isEnded(session)) return session.completed_at ?? session.last_activity_at
  if (session.status === 'idle' || session.status === 'waiting_input') return session.last_activity_at
  return session.spawned_at ?? session.created_at
}

/** A row of a list of sessions; `indent` is drawn before its name. */
export type SessionRow = { readonly session: SessionView; readonly indent?: string; readonly text?: string }

/** Sessions in lines of `name (id) | state | age | last words`, with the first two aligned. */
export function sessionLines(
  rows: readonly SessionRow[],
  { now, color }: { now: number; color: boolean },
): string[] {
  const paint = painter(color)
  const titles = rows.map(({ session, indent = '' }) => `${indent}${titleOf(session)}`)
  const titleWidth = Math.max(0, ...titles.map(textWidth))
  const statusWidth = Math.max(0, ...rows.map(({ session }) => statusOf(session).length))
  return rows.map(({ session, text = '' }, i) => {
    const status = statusOf(session)
    return [
      pad(titles[i] ?? '', titleWidth),
      pad(paint(statusColour(status), status), statusWidth),
      relativeTime(standsSince(session), now),
      ...(text === '' ? [] : [text]),
    ].join(' | ')
  })
}

/** A session that came to its end or to rest: `name (id) | completed | "result"`. */
export function renderEnd(session: SessionView, { color }: { readonly color: boolean }): string {
  const status = statusOf(session)
  const words = lastWords(session)
  const head = `${titleOf(session)} | ${painter(color)(statusColour(status), status)}`
  return words === '' ? head : `${head} | ${words}`
}

function statusOf({ completion_status, status }: SessionView): string {
  return isEnded({ status }) ? (completion_status ?? status) : status
}
