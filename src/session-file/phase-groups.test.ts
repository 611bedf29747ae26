import { expect, test } from 'vitest'
import { call, single } from '../../test/support/std-008.ts'
import type { AgentSession } from '../contract/session-file/agent-session.ts'
import { phaseGroups } from './phase-groups.ts'

function session(): AgentSession {
  const calls = [
    call('a', 'Read', 1),
    call('b', 'Read', 2),
    call('c', 'Write', 3),
    call('d', 'ExitPlanMode', 4),
    call('e', 'Task', 5),
  ]
  const categories = ['perception', 'perception', 'action', 'planning', 'interaction'] as const
  return {
    ...single(),
    tool_calls: calls.map((each, i) => ({ ...each, tool_category: categories[i] ?? 'action' })),
  }
}
const shown = (each: AgentSession) =>
  phaseGroups(each).map((group) => [
    group.source,
    group.phase,
    group.calls.map(({ call_id }) => call_id).join(''),
  ])

test('[LOG-118] calls nobody annotated are grouped by what they are for, with low confidence', () => {
  expect(shown(session())).toEqual([
    ['auto', 'explore', 'ab'],
    ['auto', 'execute', 'c'],
    ['auto', 'plan', 'd'],
    ['auto', 'mixed', 'e'],
  ])
  expect(phaseGroups(session()).every((group) => group.confidence === 'low')).toBe(true)
})

test('[LOG-119] annotations come before automatic groups, and phases of version 2 before annotations', () => {
  const annotation = {
    annotation_id: 'x',
    phase_type: 'verify',
    tool_call_range: { start_call_id: 'b', end_call_id: 'd' },
    annotated_by: 'human',
    annotated_at: '2026-01-26T10:00:00Z',
    confidence: 'high',
  } as const
  const annotated = { ...session(), phase_annotations: [annotation] }
  expect(shown(annotated)).toEqual([['annotation', 'verify', 'bcd']])
  const phases = [
    { phase_id: 'p', phase_type: 'explore', tool_call_ids: ['a', 'zz'] },
    { phase_id: 'q', phase_type: 'odd', tool_call_ids: ['c'] },
    { phase_id: 'r' },
  ]
  expect(shown({ ...annotated, phases })).toEqual([
    ['legacy', 'explore', 'a'],
    ['legacy', 'unclassified', 'c'],
  ])
})

test('[LOG-117, COL-54] an annotation that ends in a sub-session covers the calls up to the edge', () => {
  const annotation = {
    annotation_id: 'x',
    phase_type: 'mixed',
    tool_call_range: { start_call_id: 'c', end_call_id: 'elsewhere' },
    annotated_by: 'agent',
    annotated_at: '2026-01-26T10:00:00Z',
    confidence: 'low',
  } as const
  expect(shown({ ...session(), phase_annotations: [annotation] })).toEqual([['annotation', 'mixed', 'cde']])
})
