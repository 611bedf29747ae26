import type { FeedRow, SpanRow } from '../../contract/index-rows.ts'
import type { SpanStatus } from '../../contract/values.ts'

/** A span or a mark in its place; what only one of them has is null in the other. */
export type TraceNode = {
  readonly key: string
  /** The kind of span, or `mark`. */
  readonly kind: string
  /** A tool by its tool, an agent by its type, a phase by its phase, a mark by its event. */
  readonly name: string
  readonly title: string | null
  readonly actor: string
  readonly sessionId: string
  readonly runId: string
  readonly taskId: string | null
  readonly workflowId: string | null
  readonly phase: string | null
  readonly tool: string | null
  readonly status: SpanStatus | null
  readonly detail: string | null
  readonly verdict: string | null
  /** Which attempt at its task an agent is; 1 for the first. */
  attempt: number
  readonly startedMs: number | null
  readonly endedMs: number | null
  readonly durationMs: number | null
  /** Of its own model call, not of what is below it. */
  readonly tokens: number | null
  readonly costUsd: number | null
  readonly seq: number
  /** What it should hang under is not known, or it was closed and never opened. */
  isOrphan: boolean
  parent: TraceNode | undefined
  readonly children: TraceNode[]
}

/** A session of the trace and the one it hangs under. */
export type TraceSession = { readonly sessionId: string; readonly parentId: string | null }

export type TraceSource = {
  readonly sessions: readonly TraceSession[]
  readonly spans: readonly SpanRow[]
  readonly marks: readonly FeedRow[]
}

/**
 * The tree of a trace. Every span and mark is in it exactly once, whatever they say of their parents: what names nobody,
 * or itself in a circle, hangs under its agent, its session, or stands at the top.
 */
export function traceTree({ sessions, spans, marks }: TraceSource): TraceNode[] {
  const places = new Places(sessions)
  const nodes: { readonly node: TraceNode; readonly source: SpanRow | FeedRow }[] = []
  for (const span of spans) nodes.push({ node: places.span(span), source: span })
  for (const mark of marks) nodes.push({ node: places.mark(mark), source: mark })
  for (const { node, source } of nodes) {
    const parent = places.parentOf(node, source)
    node.parent = parent.node
    node.isOrphan ||= parent.isGuess
  }
  for (const { node } of nodes) if (isInCircle(node)) detach(node, places)
  const roots: TraceNode[] = []
  for (const { node } of nodes) (node.parent?.children ?? roots).push(node)
  for (const { node } of nodes) node.children.sort(byBegin)
  for (const { node } of nodes) if (node.kind === 'task') countAttempts(node)
  return roots.sort(byBegin)
}

/** The next node below that failed, in reading order, after the given one; the first again after the last. */
export function nextFailure(roots: readonly TraceNode[], after?: string): TraceNode | undefined {
  const failed = [...walk(roots)].filter(isFailure)
  const at = failed.findIndex(({ key }) => key === after)
  return failed[at + 1] ?? failed[0]
}

/** What ended badly, or says that something did. */
export const isFailure = ({ status, name }: TraceNode): boolean =>
  status === 'error' || status === 'denied' || status === 'abandoned' || name === 'test.failed'

/** All nodes in reading order. */
export function* walk(nodes: readonly TraceNode[]): Generator<TraceNode> {
  // A tree can be deeper than the stack.
  const left = [...nodes].reverse()
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    yield node
    for (let i = node.children.length - 1; i >= 0; i--) left.push(node.children[i] as TraceNode)
  }
}

/** The order of neighbours: by when they began, then by when they were told. */
export const byBegin = (a: TraceNode, b: TraceNode): number =>
  beginOf(a) - beginOf(b) || a.seq - b.seq || (a.key < b.key ? -1 : 1)

const beginOf = ({ startedMs, endedMs }: TraceNode): number => startedMs ?? endedMs ?? 0

/** The agents at a task after the first are new attempts at it. */
function countAttempts(task: TraceNode): void {
  let attempt = 0
  for (const child of task.children) if (child.kind === 'agent') child.attempt = ++attempt
}

function isInCircle(node: TraceNode): boolean {
  const seen = new Set<TraceNode>([node])
  for (let above = node.parent; above !== undefined; above = above.parent) {
    if (above === node) return true
    // A circle further up is that of others.
    if (seen.has(above)) return false
    seen.add(above)
  }
  return false
}

function detach(node: TraceNode, places: Places): void {
  node.isOrphan = true
  const session = places.sessionNode(node.sessionId)
  node.parent = session === node ? undefined : session
  if (isInCircle(node)) node.parent = undefined
}

type Found = { readonly node: TraceNode | undefined; readonly isGuess: boolean }

/** Where nodes are found by what others say of them. */
class Places {
  readonly #bySpan = new Map<string, TraceNode>()
  readonly #agents = new Map<string, TraceNode>()
  readonly #sessions = new Map<string, TraceNode>()
  readonly #parents: ReadonlyMap<string, string | null>

  constructor(sessions: readonly TraceSession[]) {
    this.#parents = new Map(sessions.map(({ sessionId, parentId }) => [sessionId, parentId]))
  }

  span(span: SpanRow): TraceNode {
    const node: TraceNode = {
      ...common(span),
      kind: span.kind,
      name: span.name ?? span.kind,
      tool: span.tool,
      status: span.status,
      detail: span.detail,
      verdict: span.verdict,
      startedMs: span.startedMs,
      endedMs: span.endedMs,
      durationMs: span.durationMs,
      tokens: span.tokens,
      costUsd: span.costUsd,
      isOrphan: span.orphan,
      key: span.spanId,
    }
    this.#take(span, node)
    if (span.kind === 'agent' && !this.#agents.has(span.runId)) this.#agents.set(span.runId, node)
    if (span.kind === 'session' && !this.#sessions.has(span.sessionId))
      this.#sessions.set(span.sessionId, node)
    return node
  }

  mark(mark: FeedRow): TraceNode {
    const node: TraceNode = {
      ...common(mark),
      kind: 'mark',
      name: mark.type,
      tool: null,
      status: null,
      detail: null,
      verdict: null,
      startedMs: mark.atMs,
      endedMs: mark.atMs,
      durationMs: null,
      tokens: null,
      costUsd: null,
      isOrphan: false,
      key: String(mark.seq),
    }
    // A mark with a span of its own can have others below it.
    if (this.#at(mark.traceId, mark.spanId) === undefined) this.#take(mark, node)
    return node
  }

  sessionNode(sessionId: string): TraceNode | undefined {
    return this.#sessions.get(sessionId)
  }

  parentOf(node: TraceNode, { traceId, spanId, parentSpanId }: SpanRow | FeedRow): Found {
    const own = this.#at(traceId, spanId)
    if (own !== undefined && own !== node) return { node: own, isGuess: false }
    if (parentSpanId !== null) {
      const named = this.#at(traceId, parentSpanId) ?? this.#at('', parentSpanId)
      if (named !== undefined && named !== node) return { node: named, isGuess: false }
    }
    if (node.kind === 'session') return { node: this.#above(node.sessionId), isGuess: false }
    const agent = this.#agents.get(node.runId)
    const session = this.#sessions.get(node.sessionId)
    const guess = agent !== node && node.kind !== 'agent' ? (agent ?? session) : session
    return { node: guess, isGuess: parentSpanId !== null }
  }

  /** The node of the session that another hangs under; one that is not in the trace is none. */
  #above(sessionId: string): TraceNode | undefined {
    const parentId = this.#parents.get(sessionId)
    return parentId === null || parentId === undefined ? undefined : this.#sessions.get(parentId)
  }

  #take({ traceId, spanId }: SpanRow | FeedRow, node: TraceNode): void {
    for (const trace of [traceId, '']) {
      const key = `${trace} ${spanId}`
      if (!this.#bySpan.has(key)) this.#bySpan.set(key, node)
    }
  }

  #at(traceId: string, spanId: string): TraceNode | undefined {
    return this.#bySpan.get(`${traceId} ${spanId}`)
  }
}

const common = (row: SpanRow | FeedRow) => ({
  title: row.title,
  actor: row.actor,
  sessionId: row.sessionId,
  runId: row.runId,
  taskId: row.taskId,
  workflowId: row.workflowId,
  phase: row.phase,
  attempt: 1,
  seq: row.seq,
  parent: undefined,
  children: [],
})
