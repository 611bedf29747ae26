import type { SpanStatus } from '../../contract/values.ts'
import { byBegin, isFailure, type TraceNode, walk } from './trace-tree.ts'

/** One line of an outline: a node, or several alike; its figures are those of all that is below it. */
export type OutlineRow = {
  readonly nodes: readonly [TraceNode, ...TraceNode[]]
  readonly label: string
  readonly title: string
  readonly status: SpanStatus | null
  readonly verdict: string | null
  readonly startedMs: number | null
  /** What it took; of several, together. Null while it is open. */
  readonly durationMs: number | null
  readonly tokens: number | null
  readonly costUsd: number | null
  readonly children: readonly OutlineRow[]
  /** Lines below it that are left out for the depth. */
  readonly hidden: number
}

export type OutlineOptions = {
  /** Levels below the top that are shown. */
  readonly depth?: number
  /** Only what this keeps, and what leads to it. */
  readonly keep?: (node: TraceNode) => boolean
}

/** What a person reads of a trace: wrappers give way to what they hold, and what is alike is one line. */
export function outline(
  roots: readonly TraceNode[],
  { depth = mostLevels, keep }: OutlineOptions = {},
): OutlineRow[] {
  const kept = keep === undefined ? undefined : { leading: leadingTo(roots, keep), is: keep }
  return rowsOf(roots, { level: 0, depth: Math.min(depth, mostLevels), kept })
}

// Foreign spans can hang on each other without end; nobody reads so far.
const mostLevels = 60
/** As many alike, one after the other, are one line; of what other work lies between, two are enough. */
const alike = 3
const alikeApart = 2

type Level = {
  readonly level: number
  readonly depth: number
  /** What is kept, and all that leads to it. */
  readonly kept:
    | { readonly leading: ReadonlySet<TraceNode>; readonly is: (node: TraceNode) => boolean }
    | undefined
}

function leadingTo(roots: readonly TraceNode[], keep: (node: TraceNode) => boolean): Set<TraceNode> {
  const kept = new Set<TraceNode>()
  for (const node of walk(roots)) {
    if (!keep(node)) continue
    for (let at: TraceNode | undefined = node; at !== undefined && !kept.has(at); at = at.parent) kept.add(at)
  }
  return kept
}

function rowsOf(nodes: readonly TraceNode[], at: Level): OutlineRow[] {
  const isKept = ({ node, task, below = [] }: Shown): boolean => {
    if (at.kept === undefined) return true
    const { leading, is } = at.kept
    return [node, ...below].some((one) => leading.has(one)) || (task !== undefined && is(task))
  }
  const shown = nodes.flatMap((node) => shownFor(node, 0)).filter(isKept)
  return grouped(shown).map((group) => {
    const [one] = group
    return group.length === 1 && one !== undefined ? rowOf(one, at) : folded(group)
  })
}

/** A node as it is shown: an agent with the task that it is at. */
type Shown = {
  readonly node: TraceNode
  readonly task?: TraceNode
  /** What is shown below it, where that is not what hangs under it. */
  readonly below?: readonly TraceNode[]
  readonly title?: string
}

/** What stands for a node: wrappers that say no more than what is in them are left out. */
function shownFor(node: TraceNode, depth: number): Shown[] {
  const inside = () => node.children.flatMap((child) => shownFor(child, depth + 1))
  if (depth > mostLevels) return [{ node }]
  if (
    node.kind === 'node' ||
    (node.kind === 'agent' && node.children.some(({ kind }) => kind === 'workflow'))
  )
    return node.children.length === 0 ? [] : inside()
  if (node.kind === 'task') return taskRows(node)
  if (node.kind === 'workflow') return [workflowRow(node)]
  if (node.kind === 'tool')
    return [{ node, below: node.children.filter(({ name }) => name !== 'patch.created') }]
  if ((node.kind === 'message' || node.kind === 'effect') && !isFailure(node)) return []
  return node.name === 'decision.made' && /^(tool|model)\b/.test(node.title ?? '') ? [] : [{ node }]
}

/** The attempts at a task, the last with what was found and made of it; a task that nobody began stands for itself. */
function taskRows(task: TraceNode): Shown[] {
  const agents = task.children.filter(({ kind }) => kind === 'agent' || kind === 'session')
  if (agents.length === 0) return [{ node: task }]
  const others = task.children.filter((child) => !agents.includes(child))
  const title = task.title?.split(' → ').at(1)?.split(' ').slice(1).join(' ') ?? ''
  return agents.map((node) => ({
    node,
    task,
    title,
    below: node === agents.at(-1) ? [...node.children, ...others] : node.children,
  }))
}

/** A workflow with its phases: that it was made and who approved it are said in its own line. */
function workflowRow(node: TraceNode): Shown {
  const created = node.children.find(({ name }) => name === 'workflow.created')
  const approved = created?.children.find(({ name }) => name === 'workflow.approved')
  if (created === undefined || approved === undefined) return { node }
  const said = [created.title, `approved by ${approved.title ?? 'nobody'}`]
  const below = [...node.children, ...created.children, ...approved.children]
  return {
    node,
    title: said.filter(Boolean).join(', '),
    below: below.filter((one) => one !== created && one !== approved).sort(byBegin),
  }
}

/** Neighbours that are alike; some are alike wherever they stand, since other work lies between them. */
function grouped(shown: readonly Shown[]): Shown[][] {
  const groups: Shown[][] = []
  const apart = new Map<string, Shown[]>()
  for (const one of shown) {
    const likeness = likenessOf(one)
    const [last] = groups.at(-1) ?? []
    const open = isApart(one.node) ? apart.get(likeness) : undefined
    if (likeness !== '' && open !== undefined) open.push(one)
    else if (likeness !== '' && last !== undefined && likenessOf(last) === likeness) groups.at(-1)?.push(one)
    else groups.push([one])
    if (isApart(one.node) && !apart.has(likeness)) apart.set(likeness, groups.at(-1) ?? [])
  }
  return groups.flatMap((group) => {
    const enough = group[0] && isApart(group[0].node) ? alikeApart : alike
    return group.length >= enough ? [group] : group.map((one) => [one])
  })
}

const isApart = ({ kind, name }: TraceNode): boolean => kind === 'llm' || name === 'workflow.checkpoint.saved'

/** What is alike has the same; what failed, is open or holds others is like nothing. */
const likenessOf = ({ node, below = node.children }: Shown): string =>
  below.length > 0 || (node.status !== 'ok' && node.status !== null) || node.verdict !== null
    ? ''
    : `${node.kind} ${node.name}`

function folded(group: readonly Shown[]): OutlineRow {
  const nodes = group.map(({ node }) => node) as [TraceNode, ...TraceNode[]]
  const [first] = nodes
  return {
    nodes,
    label: `${labelOf({ node: first })} ×${nodes.length}`,
    title: '',
    status: first.status,
    verdict: null,
    startedMs: first.startedMs,
    durationMs: nodes.reduce<number | null>(
      (sum, { durationMs }) => (durationMs === null ? sum : (sum ?? 0) + durationMs),
      null,
    ),
    ...figures(nodes),
    children: [],
    hidden: 0,
  }
}

function rowOf(shown: Shown, at: Level): OutlineRow {
  const { node, task, below = node.children } = shown
  const isCut = at.level >= at.depth
  const inside = rowsOf(below, { ...at, level: isCut ? 0 : at.level + 1, depth: isCut ? 0 : at.depth })
  return {
    nodes: [node],
    label: labelOf(shown),
    title: shown.title ?? titleOf(node),
    status: node.status === 'ok' && task !== undefined && task.status !== 'open' ? task.status : node.status,
    verdict: node.verdict ?? task?.verdict ?? null,
    startedMs: node.startedMs,
    durationMs: node.durationMs,
    ...figures(walk([node, ...below.filter((one) => !isUnder(one, node))])),
    children: isCut ? [] : inside,
    hidden: isCut ? inside.length : 0,
  }
}

const prefixes: Readonly<Record<string, string>> = { phase: 'phase ', llm: 'model ', approval: 'approval ' }

function labelOf({ node, task }: Pick<Shown, 'node' | 'task'>): string {
  if (node.kind === 'loop') return node.title?.split(' ').slice(0, 2).join(' ') ?? 'round'
  if (node.kind !== 'agent') return `${prefixes[node.kind] ?? ''}${node.name}`
  const name = task?.taskId ? `${node.actor} · ${task.taskId}` : node.actor
  return node.attempt > 1 ? `${name} (retry)` : name
}

/** What is not in the label already. */
function titleOf({ kind, title, tool, name }: TraceNode): string {
  if (title === null || kind === 'phase' || kind === 'loop' || kind === 'llm') return ''
  if (kind === 'tool' && tool !== null && title.startsWith(tool)) return title.slice(tool.length).trim()
  return title.startsWith(name) ? title.slice(name.length).trim() : title
}

function figures(nodes: Iterable<TraceNode>): Pick<OutlineRow, 'tokens' | 'costUsd'> {
  let tokens: number | null = null
  let costUsd: number | null = null
  for (const node of nodes) {
    if (node.tokens !== null) tokens = (tokens ?? 0) + node.tokens
    if (node.costUsd !== null) costUsd = (costUsd ?? 0) + node.costUsd
  }
  return { tokens, costUsd }
}

function isUnder(node: TraceNode, top: TraceNode): boolean {
  for (let above = node.parent; above !== undefined; above = above.parent) if (above === top) return true
  return false
}
