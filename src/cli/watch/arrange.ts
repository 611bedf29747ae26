import type { SessionView } from '../../contract/session-views.ts'
import { shownName } from '../render/session-lines.ts'
import { rankOf, ranks } from './session-state.ts'

/** What is hidden below a folded session. */
export type Below = { readonly count: number; readonly blocked: number; readonly trouble: number }

/** One line of the list. */
export type Row = {
  readonly session: SessionView
  /** The branches of the tree before its name. */
  readonly branch: string
  readonly below: Below | undefined
  /** Only here because something below it fits the search. */
  readonly isContext: boolean
}

/** What of the tree is shown. */
export type Arranging = {
  readonly folded: ReadonlySet<string>
  readonly filter: string
  /** Leaves it out unless something below it is shown. */
  readonly isHidden: (session: SessionView) => boolean
}

/** The tree as lines: whole subtrees with somebody who waits first, siblings of one urgency in a lasting order. */
export function arrange(sessions: readonly SessionView[], arranging: Arranging): Row[] {
  const words = arranging.filter.toLowerCase().split(/\s+/).filter(Boolean)
  const rows: Row[] = []
  const placing = { rows, words, ...arranging }
  for (const root of grow(sessions)) if (isShown(root, placing)) place(root, placing)
  return rows
}

type Node = {
  readonly session: SessionView
  readonly children: Node[]
  /** The most urgent rank of itself and all below, by its place in the table. */
  rank: number
  since: string
  below: Below
}

function grow(sessions: readonly SessionView[]): Node[] {
  const nodes = new Map(sessions.map((session): [string, Node] => [session.session_id, leaf(session)]))
  const roots: Node[] = []
  for (const node of nodes.values()) {
    const parent = nodes.get(node.session.parent_session_id ?? '')
    if (parent === undefined || isAbove(node, parent, nodes)) roots.push(node)
    else parent.children.push(node)
  }
  for (const root of roots) gather(root)
  return roots.sort(byUrgency)
}

function leaf(session: SessionView): Node {
  const rank = ranks.indexOf(rankOf(session))
  return {
    session,
    children: [],
    rank,
    since: rank === 0 ? session.last_activity_at : session.created_at,
    below: { count: 0, blocked: 0, trouble: 0 },
  }
}

// Parents in a circle would be drawn nowhere; the one where it closes is drawn at the top.
function isAbove(node: Node, parent: Node, nodes: ReadonlyMap<string, Node>): boolean {
  const seen = new Set<Node>()
  for (let one: Node | undefined = parent; one !== undefined && !seen.has(one); ) {
    if (one === node) return true
    seen.add(one)
    one = nodes.get(one.session.parent_session_id ?? '')
  }
  return false
}

function gather(node: Node): void {
  let { count, blocked, trouble } = node.below
  for (const child of node.children) {
    gather(child)
    const own = rankOf(child.session)
    count += 1 + child.below.count
    blocked += child.below.blocked + (own === 'blocked' ? 1 : 0)
    trouble += child.below.trouble + (own === 'trouble' ? 1 : 0)
    if (child.rank < node.rank || (child.rank === 0 && node.rank === 0 && child.since < node.since))
      node.since = child.since
    node.rank = Math.min(node.rank, child.rank)
  }
  node.below = { count, blocked, trouble }
  node.children.sort(byUrgency)
}

/** Most urgent first, then who blocks most, then who has waited or lived longest. */
function byUrgency(a: Node, b: Node): number {
  return (
    a.rank - b.rank ||
    blockedIn(b) - blockedIn(a) ||
    compare(a.since, b.since) ||
    compare(a.session.id, b.session.id)
  )
}

const blockedIn = ({ rank, below }: Node): number => (rank === 0 ? below.blocked : 0)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

type Placing = Arranging & { readonly rows: Row[]; readonly words: readonly string[] }

function place(node: Node, placing: Placing, lines = { own: '', below: '' }): void {
  const { rows, words, folded } = placing
  const isFolded = words.length === 0 && folded.has(node.session.id) && node.below.count > 0
  rows.push({
    session: node.session,
    branch: lines.own,
    below: isFolded ? node.below : undefined,
    isContext: words.length > 0 && !isFitting(node, placing),
  })
  const shown = isFolded ? [] : node.children.filter((child) => isShown(child, placing))
  shown.forEach((child, i) => {
    const isLast = i === shown.length - 1
    place(child, placing, {
      own: `${lines.below}${isLast ? '└ ' : '├ '}`,
      below: `${lines.below}${isLast ? '  ' : '│ '}`,
    })
  })
}

function isShown(node: Node, placing: Placing): boolean {
  return isFitting(node, placing) || node.children.some((child) => isShown(child, placing))
}

function isFitting({ session }: Node, { words, isHidden }: Placing): boolean {
  return words.length === 0 ? !isHidden(session) : fits(session, words)
}

function fits(session: SessionView, words: readonly string[]): boolean {
  const { session_id, agent_type, cli, status, waiting_for, health } = session
  const { current_task, last_checkpoint, working_dir, completion_message, spawn_prompt } = session
  const text = [
    shownName(session),
    session_id,
    agent_type,
    cli,
    status,
    waiting_for,
    health,
    current_task,
    last_checkpoint,
    working_dir,
    completion_message,
    spawn_prompt,
  ]
    .join(' ')
    .toLowerCase()
  return words.every((word) => text.includes(word))
}
