import { expect, test } from 'vitest'
import { textWidth } from '../../src/cli/render/text-width.ts'
import { renderTrace } from '../../src/cli/render/trace-tree.ts'
import type { CommandOutput } from '../../src/contract/cli/outputs.ts'
import { TraceRows } from '../../src/core/trace/trace-rows.ts'
import { runIdOf, sessionIdOf, startMs } from '../support/events.ts'
import { traceStory } from '../support/trace-story.ts'

const usual = { slices: {}, depth: undefined, critical: false } as const

function page(runId: CommandOutput<'trace'>['runId'] = null): CommandOutput<'trace'> {
  const rows = new TraceRows()
  for (const event of traceStory().events) rows.event(event)
  const sessions = [{ sessionId: sessionIdOf(1), parentId: null }]
  return { sessions, runId, spans: rows.spans(), marks: rows.marks(), seq: 99, next: null }
}

const view = (width: number) => ({ width, now: startMs + 100_000, color: false })

test.each([80, 120])(
  '[MUS-387] a trace at %i columns reads as it was approved, and no line is wider',
  async (width) => {
    const text = renderTrace(page(), view(width), usual)
    for (const line of text.split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(width)
    await expect(`${text}\n`).toMatchFileSnapshot(`golden/trace-${width}.txt`)
  },
)

test('[MUS-387] slices are cut by what is named, in any case of letters, and say when there is nothing', () => {
  const of = (slices: Parameters<typeof renderTrace>[2]['slices']) =>
    renderTrace(page(), view(80), { ...usual, slices })
  expect(of({ agent: ['PLANNER'] }).split('\n')).toEqual([
    expect.stringContaining('login'),
    expect.stringContaining('planner'),
    expect.stringContaining('model big ×2'),
    expect.stringContaining('plan.created'),
  ])
  expect(of({ tool: ['edit_file'] }).match(/tool\.\w+/g)).toEqual(['tool.edit_file', 'tool.edit_file'])
  expect(of({ status: ['failed'] })).toContain('test.failed')
  expect(of({ status: ['approved'] })).toContain('reviewer · review  approved')
  expect(of({ tool: ['edit_file'], agent: ['planner'] })).toBe('Nothing of it is in this slice.')
})

test('[MUS-387] an agent that is named stands at the top alone', () => {
  expect(renderTrace(page(runIdOf(2)), view(80), usual).split('\n')[0]).toMatch(/^planner +200 +10\.0 s$/)
})

test('[MUS-388] the critical path leaves out what nobody waited for, and shows its share of the time', () => {
  const text = renderTrace(page(), view(80), { ...usual, critical: true })
  expect(text).not.toContain('plan.created')
  expect(text.split('\n')[0]).toMatch(/100\.0 s|1min/)
  expect(text).toMatch(/approval land .* 30\.0 s/)
})
