import { expect, test } from 'vitest'
import { type EventStream, startMs } from '../../../test/support/events.ts'
import { traceStory } from '../../../test/support/trace-story.ts'
import { criticalPath } from './critical-path.ts'
import { type OutlineRow, outline } from './outline.ts'
import { timeSpent } from './time-spent.ts'
import { TraceRows } from './trace-rows.ts'
import { isFailure, nextFailure, type TraceNode, traceTree } from './trace-tree.ts'

const endMs = startMs + 100_000

function treeOf({ events }: EventStream): TraceNode[] {
  const rows = new TraceRows()
  for (const event of events) rows.event(event)
  return traceTree({ sessions: [], spans: rows.spans(), marks: rows.marks() })
}

const drawn = (rows: readonly OutlineRow[], indent = ''): string[] =>
  rows.flatMap((row) => [
    [
      indent + row.label,
      row.title,
      row.verdict ?? (row.status === 'ok' ? null : row.status),
      row.hidden || null,
    ]
      .filter((part) => part !== null && part !== '')
      .join(' | '),
    ...drawn(row.children, `${indent}  `),
  ])

test('[MUS-387][OBS-29, OBS-30, OBS-31, OBS-32, OBS-33] a session is drawn as its agents with their tools, results, retries and verdicts', () => {
  expect(drawn(outline(treeOf(traceStory())))).toEqual([
    'login | open',
    '  planner',
    '    model big ×2',
    '    plan.created | p two steps',
    '  coder · code | Write it',
    '    tool.read_file ×3',
    '    tool.edit_file | a.ts',
    '  coder · code (retry) | Write it',
    '    tool.edit_file | a.ts',
    '    test.failed | npm test',
    '  reviewer · review | Review it | approved',
    '  approval land | Land it? | open',
  ])
})

test('[MUS-387] depth counts what it leaves out, and a slice keeps what leads to it', () => {
  const tree = treeOf(traceStory())
  expect(drawn(outline(tree, { depth: 1 }))).toEqual([
    'login | open',
    '  planner | 2',
    '  coder · code | Write it | 2',
    '  coder · code (retry) | Write it | 2',
    '  reviewer · review | Review it | approved',
    '  approval land | Land it? | open',
  ])
  expect(drawn(outline(tree, { keep: isFailure }))).toEqual([
    'login | open',
    '  coder · code (retry) | Write it',
    '    test.failed | npm test',
  ])
  const first = nextFailure(tree)
  expect(first?.name).toBe('test.failed')
  expect(nextFailure(tree, first?.key)).toBe(first)
})

test('[MUS-388] the time of a node is split without a rest, and what happens side by side counts once', () => {
  const [top] = treeOf(traceStory()) as [TraceNode]
  expect(timeSpent(top, endMs)).toEqual({
    human: 30_000,
    tool: 1002 + 18_000 + 15_000,
    model: 7000,
    child: 0,
    queue: 0,
    unaccounted: 28_998,
    total: 100_000,
  })
  const planner = top.children.find(({ actor }) => actor === 'planner') as TraceNode
  expect(timeSpent(planner, endMs)).toMatchObject({ model: 7000, unaccounted: 3000, total: 10_000 })
})

test('[MUS-388] the critical path covers the time of its top from end to end', () => {
  const [top] = treeOf(traceStory()) as [TraceNode]
  const path = criticalPath(top, endMs)
  expect(path.reduce((sum, { ownMs }) => sum + ownMs, 0)).toBe(100_000)
  expect(path.map(({ node }) => node.name)).toEqual([
    'login',
    'planner',
    'big',
    'big',
    'code',
    'coder',
    'tool.read_file',
    'tool.edit_file',
    'coder',
    'tool.edit_file',
    'review',
    'reviewer',
    'land',
  ])
})
