import type { AgentEvent, DraftOf, PayloadOf } from '../../contract/event.ts'

/** The version of an item; one that expires has its end beside it. */
type ItemVersion = number | { readonly version: number; readonly expiresAtMs: number }

/** The version of every item on a session's blackboard; the contents are in the journal. */
export type BoardVersions = Readonly<Record<string, ItemVersion>>

/** What is on the board now; a change that met another version changed nothing. */
export function evolveBoard(
  event: DraftOf<'blackboard.item.created' | 'blackboard.item.updated'>,
  recordedAt: string,
  board: BoardVersions = {},
): BoardVersions {
  if (event.type === 'blackboard.item.updated' && event.payload.conflict) return board
  const { itemId, version = 1, ttlMs } = event.payload
  const atMs = Date.parse(event.timestamp ?? recordedAt)
  return { ...board, [itemId]: ttlMs === undefined ? version : { version, expiresAtMs: atMs + ttlMs } }
}

/** The version of an item that is there; one whose time is over is not. */
export function currentVersion(
  board: BoardVersions | undefined,
  id: string,
  now: number,
): number | undefined {
  const known = itemVersion(board, id)
  if (typeof known !== 'object') return known
  return known.expiresAtMs > now ? known.version : undefined
}

/** The version that an id had last: one that is put there again counts on from it, so that no old version fits it again. */
export function lastVersion(board: BoardVersions | undefined, id: string): number {
  const known = itemVersion(board, id) ?? 0
  return typeof known === 'object' ? known.version : known
}

const itemVersion = (board: BoardVersions = {}, id: string): ItemVersion | undefined =>
  Object.hasOwn(board, id) ? board[id] : undefined

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
      const known = items.get(event.payload.itemId)
      if (known) items.set(known.id, changed(known, event.payload, atMs))
    }
  }
  return [...items.values()].filter(({ expiresAtMs }) => expiresAtMs === undefined || expiresAtMs > now)
}

function changed(item: BoardItem, change: PayloadOf<'blackboard.item.updated'>, atMs: number): BoardItem {
  if (change.conflict) return { ...item, conflicts: item.conflicts + 1 }
  const { itemType, content, sourceAgent, confidence, ttlMs, version } = change
  // The time of what it replaces is not its own: kept, it would hide what was just written.
  const { expiresAtMs: _, ...kept } = item
  return {
    ...kept,
    content,
    source: sourceAgent,
    version,
    updatedAtMs: atMs,
    ...(itemType !== undefined && { type: itemType }),
    ...(confidence !== undefined && { confidence }),
    ...(ttlMs !== undefined && { expiresAtMs: atMs + ttlMs }),
  }
}
