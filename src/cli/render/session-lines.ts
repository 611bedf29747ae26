import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { SessionView, SuspectView, UnsavedView } from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import { ago, shortCount } from './figures.ts'
import { type Colour, painter } from './paint.ts'
import { oneLine } from './safe-text.ts'
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

/** Whether it is an agent inside of a session, and no session. */
export const isAgent = ({ origin }: { readonly origin: string | null }): boolean => origin === 'agent'

const bad: ReadonlySet<string> = new Set(['error', 'failed', 'rejected', 'killed', 'abandoned'])

/** The colour of a state. */
export function statusColour(status: string): Colour {
  if (bad.has(status)) return 'red'
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
  // A built-in agent shows no screen; what it was asked first says what it is about.
  const asked = session.origin === 'runtime' || session.origin === 'workflow' ? spawn_prompt : null
  // Why its turn failed is the first thing to know of it.
  const failure = session.status === 'failed' ? detail : null
  const words = failure ?? current_task ?? last_checkpoint ?? detail ?? asked ?? ''
  // What an agent inside of a session does, or in which phase a workflow is, before what it is for.
  const now = isAgent(session) ? detail : session.phase
  const text = now === null || now === words ? words : `${now}: ${words}`
  return cut(oneLine(text.slice(0, longestText * 2)), longestText)
}

const resting: ReadonlySet<string> = new Set(['idle', 'failed', 'waiting_input'])

/** Since when a session stands as it does: its end, its last activity while it rests, else its start. */
export function standsSince(session: SessionView): string {
  if (isEnded(session)) return session.completed_at ?? session.last_activity_at
  if (resting.has(session.status)) return session.last_activity_at
  return session.spawned_at ?? session.created_at
}

/** A row of a list of sessions; `indent` is drawn before its name. */
type SessionRow = { readonly session: SessionView; readonly indent?: string; readonly text?: string }

/** Sessions in lines of `name (id) | state | age | last words`, with the first two aligned. */
function sessionLines(
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
      ago(standsSince(session), now),
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

/** How a session ended, or the state that it is in. */
export function statusOf({ completion_status, status }: SessionView): string {
  return isEnded({ status }) ? (completion_status ?? status) : status
}

/** A session and what is drawn before its name. */
export type Placed = { readonly session: SessionView; readonly branch: string }

/** Sessions in the order of their tree: each right after its parent, siblings as they began. Who has no parent here stands at the top. */
export function treeOrder(sessions: readonly SessionView[]): Placed[] {
  const known = new Set(sessions.flatMap(({ id, session_id }) => [id as string, session_id]))
  const byParent = Map.groupBy(
    sessions.toSorted((a, b) => compare(a.created_at, b.created_at)),
    ({ parent_session_id: parent }) => (parent !== null && known.has(parent) ? parent : ''),
  )
  const placed: Placed[] = []
  const seen = new Set<SessionView>()
  const place = (session: SessionView, { lines, mark }: Place) => {
    seen.add(session)
    placed.push({ session, branch: lines + mark })
    const below = new Set([session.id, session.session_id].flatMap((name) => byParent.get(name) ?? []))
    const left = [...below].filter((child) => !seen.has(child))
    const under = lines + { '': '', '├─ ': '│ ', '└─ ': '  ' }[mark]
    for (const child of left)
      if (!seen.has(child)) place(child, { lines: under, mark: child === left.at(-1) ? '└─ ' : '├─ ' })
  }
  // A circle has no top; its members are shown all the same.
  for (const session of [...(byParent.get('') ?? []), ...sessions])
    if (!seen.has(session)) place(session, { lines: '', mark: '' })
  return placed
}

/** A branch in a list without columns, where children stand further in. */
const indented = (branch: string): string => branch && `  ${branch}`

type Place = { readonly lines: string; readonly mark: '' | '├─ ' | '└─ ' }

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The children of a session with their last words, or all below it as a tree. */
export function renderChildren(
  { children }: CommandOutput<'children'>,
  view: View,
  { recursive }: { readonly recursive: boolean },
): string {
  const placed = treeOrder(children)
  const rows = placed.map(({ session, branch }) => {
    const words = recursive && !isAgent(session) ? '' : lastWords(session)
    const used = isAgent(session) ? `${shortCount(session.tokens_used)} tokens` : ''
    const text = [used, words].filter(Boolean).join(' | ')
    return { session, text, ...(recursive && { indent: indented(branch) }) }
  })
  return sessionLines(rows, view).join('\n')
}

/** The line of `sm me`. */
export function renderMe(session: SessionView): string {
  return `${titleOf(session)} | ${session.status} | ${oneLine(session.working_dir ?? 'no folder')}`
}

/** Sessions with what each works on. */
export function renderOthers({ sessions }: CommandOutput<'others'>, view: View): string {
  return sessionLines(
    sessions.map((session) => ({ session, text: lastWords(session) })),
    view,
  ).join('\n')
}

/** The caller, what is below it, and who works in the same folder. */
export function renderStatus(status: CommandOutput<'status'>, view: View): string {
  const { session, children, others, working_dir } = status
  const indent = (lines: readonly string[]) => lines.map((line) => `  ${line}`)
  const tree = treeOrder(children).map(({ session: child, branch }) => ({
    session: child,
    indent: indented(branch),
    text: lastWords(child),
  }))
  const here = others.map((other) => ({ session: other, text: lastWords(other) }))
  const locks = [...(session === null ? [] : [session]), ...others].filter(({ lock }) => lock !== null)
  return [
    session === null ? 'You: a person, not in a session' : `You: ${renderMe(session)}`,
    ...(session?.worktree
      ? [oneLine(`Work tree: ${session.worktree.path} on branch ${session.worktree.branch}`)]
      : []),
    ...(session?.current_task ? [`Task: ${oneLine(session.current_task)}`] : []),
    ...locks.map((holder) => `Lock: ${shownName(holder)} says "${oneLine(holder.lock ?? '')}"`),
    ...(session === null ? [] : [children.length === 0 ? 'Children: none' : 'Children:']),
    ...indent(sessionLines(tree, view)),
    `Others in ${oneLine(working_dir)}:${others.length === 0 ? ' none' : ''}`,
    ...indent(sessionLines(here, view)),
  ].join('\n')
}

/** Processes that may be left of sessions that were ended, with how to end each. */
export const suspectLines = (suspects: readonly SuspectView[]): string[] =>
  suspects.map(
    ({ pid, command }) =>
      `Perhaps left behind: process ${pid} (${oneLine(command.slice(0, 200))}). It began where the session worked, and detached itself; if it is not yours, end it with: kill ${pid}`,
  )

/** Who was ended, as a tree, which processes would not go, and which may be left. */
export function renderKilled({ killed, left, suspects }: CommandOutput<'kill'>): string {
  return [
    ...treeOrder(killed).map(({ session, branch }) => {
      const note = session.detail === null ? '' : ` | ${oneLine(session.detail)}`
      const kept = session.worktree === null ? '' : ` | work tree kept: ${oneLine(session.worktree.path)}`
      return `${indented(branch)}Killed ${titleOf(session)}${note}${kept}`
    }),
    ...(killed.length === 0 ? ['Nothing was running.'] : []),
    ...(left.length === 0
      ? []
      : [`${left.length === 1 ? '1 process' : `${left.length} processes`} still there: ${left.join(', ')}`]),
    ...suspectLines(suspects ?? []),
  ].join('\n')
}

/** Who is about to be ended, how each stands, and what is unsaved. */
export function renderDoomed(doomed: readonly UnsavedView[], now: number): string[] {
  const placed = treeOrder(doomed.map(({ session }) => session))
  const rows = placed.map(({ session, branch }) => ({
    session,
    indent: indented(branch),
    text: lastWords(session),
  }))
  const unsaved = new Map<string, readonly string[]>(doomed.map((one) => [one.session.id, one.unsaved]))
  return sessionLines(rows, { now, color: false }).flatMap((line, i) => [
    line,
    ...(unsaved.get(rows[i]?.session.id ?? '') ?? []).map((what) => `  unsaved: ${oneLine(what)}`),
  ])
}
