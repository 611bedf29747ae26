import type { AgentEvent, Draft } from '../../contract/event.ts'

/** The version of every item on a session's blackboard; the contents are in the journal. */
export type BoardVersions = Readonly<Record<string, number>>

/** What is on the board now; a change that met another version changed nothing. */
export function evolveBoard(board: BoardVersions = {}, event: Draft): BoardVersions {
  if (event.type === 'blackboard.item.created')
    return { ...board, [event.payload.itemId]: event.payload.version ?? 1 }
  if (event.type === 'blackboard.item.updated' && !event.payload.conflict)
    return { ...board, [event.payload.itemId]: event.payload.version }
  return board
}

/** One item of shared state. */
export type BoardItem = {
  readonly id: string
  readonly type: string
  readonly content: unknown
  readonly source: string
  readonly confidence?: number
  readonly expiresAtMs?: number
  readonly version: number
  readonly updatedAtMs: number
  /** Changes that were refused because they came from an older version. */
  readonly conflicts: number
}

/** The items of a blackboard by the facts about it, without those whose time is over. */
export function boardItems(events: Iterable<AgentEvent>, now: number): BoardItem[] {
  const items = new Map<string, BoardItem>()
  for (const event of events) {
    const atMs = Date.parse(event.timestamp)
    if (event.type === 'blackboard.item.created') {
      const { itemId, itemType, content, sourceAgent, confidence, ttlMs, version = 1 } = event.payload
      items.set(itemId, {
        id: itemId,
        type: itemType,
        content,
        source: sourceAgent,
        version,
        updatedAtMs: atMs,
        conflicts: 0,
        ...(confidence !== undefined && { confidence }),
        ...(ttlMs !== undefined && { expiresAtMs: atMs + ttlMs }),
      })
    } else if (event.type === 'blackboard.item.updated') {
      const { itemId, content, sourceAgent, version, conflict } = event.payload
      const known = items.get(itemId)
      if (!known) continue
      items.set(
        itemId,
        conflict
          ? { ...known, conflicts: known.conflicts + 1 }
          : { ...known, content, source: sourceAgent, version, updatedAtMs: atMs },
      )
    }
  }
  return [...items.values()].filter(({ expiresAtMs }) => expiresAtMs === undefined || expiresAtMs > now)
}
