import type { SessionView } from '../../contract/session-views.ts'

/** A session and how deep it stands below the top of the list. */
export type Placed = { readonly session: SessionView; readonly level: number }

/** Sessions in the order of their tree: each right after its parent, siblings as they began. Who has no parent here stands at the top. */
export function treeOrder(sessions: readonly SessionView[]): Placed[] {
  const known = new Set(sessions.flatMap(({ id, session_id }) => [id as string, session_id]))
  const byParent = Map.groupBy(
    sessions.toSorted((a, b) => compare(a.created_at, b.created_at)),
    ({ parent_session_id: parent }) => (parent !== null && known.has(parent) ? parent : ''),
  )
  const placed: Placed[] = []
  const seen = new Set<SessionView>()
  const place = (session: SessionView, level: number) => {
    if (seen.has(session)) return
    seen.add(session)
    placed.push({ session, level })
    for (const name of [session.id, session.session_id]) {
      for (const child of byParent.get(name) ?? []) place(child, level + 1)
    }
  }
  for (const root of byParent.get('') ?? []) place(root, 0)
  // A circle has no top; its members are shown all the same.
  for (const session of sessions) place(session, 0)
  return placed
}

/** What is drawn before a name at a level. */
export function branch(level: number): string {
  return level === 0 ? '' : `${'  '.repeat(level)}└─ `
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
