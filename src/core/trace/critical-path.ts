import type { TraceNode } from './trace-tree.ts'

/** A node on the path, and how long of its time no node below it on the path explains. */
export type PathStep = { readonly node: TraceNode; readonly ownMs: number }

/**
 * What the end of a node waited for, from its begin to its end: at each moment the child that ended last before the
 * rest could go on. Making anything else faster would not have ended it sooner.
 */
export function criticalPath(top: TraceNode, nowMs: number): PathStep[] {
  const steps: PathStep[] = []
  const left: { readonly node: TraceNode; readonly from: number; readonly to: number }[] = [
    { node: top, from: beginOf(top, nowMs), to: endOf(top, nowMs) },
  ]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const { node, from, to } = at
    let ownMs = 0
    let cursor = to
    const below: typeof left = []
    for (const child of lastFirst(node.children, nowMs)) {
      const [begin, end] = [Math.max(from, beginOf(child, nowMs)), endOf(child, nowMs)]
      // One that was still at work when the next one began was not waited for.
      if (end > cursor || end <= from) continue
      ownMs += cursor - end
      below.push({ node: child, from: begin, to: end })
      cursor = begin
    }
    steps.push({ node, ownMs: ownMs + Math.max(0, cursor - from) })
    // The earliest is looked at first, so that steps are in the order of time.
    left.push(...below)
  }
  return steps
}

const beginOf = ({ startedMs, endedMs }: TraceNode, nowMs: number): number => startedMs ?? endedMs ?? nowMs
const endOf = (node: TraceNode, nowMs: number): number =>
  Math.max(beginOf(node, nowMs), node.endedMs ?? nowMs)

// A round lies over the phases in it, and nobody waits for a message or a mark.
const beside: ReadonlySet<string> = new Set(['mark', 'loop', 'message', 'effect'])

const lastFirst = (children: readonly TraceNode[], nowMs: number): TraceNode[] =>
  belowMarks(children)
    .filter(({ kind }) => !beside.has(kind))
    .toSorted((a, b) => endOf(b, nowMs) - endOf(a, nowMs))

/** The phases of a workflow hang below the mark of its approval. */
function belowMarks(children: readonly TraceNode[]): TraceNode[] {
  const found: TraceNode[] = []
  const left = [...children]
  for (let node = left.pop(); node !== undefined; node = left.pop())
    if (node.kind === 'mark') left.push(...node.children)
    else found.push(node)
  return found
}
