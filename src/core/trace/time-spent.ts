import type { TraceNode } from './trace-tree.ts'

/** What time goes into. When two happen at once it counts for the first of these. */
export const timeUses = ['human', 'tool', 'model', 'child', 'queue'] as const
export type TimeUse = (typeof timeUses)[number]

/** Milliseconds of a node's time by what they went into; `unaccounted` is what nothing below it explains. */
export type TimeSpent = Readonly<Record<TimeUse | 'unaccounted' | 'total', number>>

type Stretch = { readonly use: TimeUse; readonly from: number; readonly to: number }

/**
 * Where the time of a node went, as its clock on the wall saw it: what happens side by side counts once. For an agent
 * its own calls count, and what it waited for others is one stretch each; for anything above agents all calls count.
 */
export function timeSpent(node: TraceNode, nowMs: number): TimeSpent {
  const from = node.startedMs ?? node.endedMs ?? nowMs
  const to = Math.max(from, node.endedMs ?? nowMs)
  const stretches: Stretch[] = []
  collect(node, { isAgent: node.kind === 'agent' && !isContainer(node), nowMs, stretches })
  return sweep(stretches, { from, to })
}

/** The agent of a workflow only holds those who work for it. */
const isContainer = (node: TraceNode): boolean => node.children.some(({ kind }) => kind === 'workflow')

type Collecting = { readonly isAgent: boolean; readonly nowMs: number; readonly stretches: Stretch[] }

function collect(top: TraceNode, { isAgent, nowMs, stretches }: Collecting): void {
  const left = [...top.children]
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    const use = useOf(node, isAgent)
    const from = node.startedMs ?? node.endedMs
    if (use !== undefined && from !== null) stretches.push({ use, from, to: node.endedMs ?? nowMs })
    // What a child does with its time is its own affair.
    if (use !== 'child') left.push(...node.children)
  }
}

function useOf(node: TraceNode, isAgent: boolean): TimeUse | undefined {
  if (isAgent && (node.kind === 'agent' || holdsAgent(node))) return 'child'
  if (node.kind === 'tool') return holdsAgent(node) ? undefined : 'tool'
  if (node.kind === 'llm') return 'model'
  if (node.kind === 'approval') return 'human'
  return node.kind === 'message' ? 'queue' : undefined
}

const holdsAgent = ({ kind, children }: TraceNode): boolean =>
  kind === 'tool' && children.some((child) => child.kind === 'agent' || child.kind === 'task')

/** Each moment counts for the first use that holds then. */
function sweep(stretches: readonly Stretch[], { from, to }: { from: number; to: number }): TimeSpent {
  const edges = stretches
    .map((one) => ({ use: one.use, from: Math.max(from, one.from), to: Math.min(to, one.to) }))
    .filter((one) => one.to > one.from)
    .flatMap((one) => [
      { at: one.from, use: one.use, step: 1 },
      { at: one.to, use: one.use, step: -1 },
    ])
    .sort((a, b) => a.at - b.at)
  const open: Record<TimeUse, number> = { human: 0, tool: 0, model: 0, child: 0, queue: 0 }
  const spent = { ...open, unaccounted: 0, total: to - from }
  let at = from
  for (const edge of [...edges, { at: to, use: 'queue' as const, step: 0 }]) {
    const use = timeUses.find((one) => open[one] > 0) ?? 'unaccounted'
    spent[use] += edge.at - at
    at = edge.at
    open[edge.use] += edge.step
  }
  return spent
}
