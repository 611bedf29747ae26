import { expect, test } from 'vitest'
import { checkRun, crewRoundOf, reviewFinding } from '../../../test/support/collaboration.ts'
import { type ReportFacts, readReport, reportPrompt, reportWords } from './final-report.ts'

const task = (task_id: string, state: ReportFacts['tasks'][number]['state']) => ({
  task_id,
  title: `Do ${task_id}`,
  state,
  files: [],
  lines_added: 0,
  lines_removed: 0,
})

const facts: ReportFacts = {
  request: 'Add dates.',
  outcome: 'unapproved',
  summary: 'Round 3 asks for changes.',
  files: [{ path: 'src/dates.ts', change_type: 'created' }],
  rounds: [crewRoundOf(1)],
  tasks: [task('parse', 'completed'), task('show', 'partial')],
  checks: [checkRun('tests', { passed: false }), checkRun('lint', { passed: null, because: 'no time' })],
  findings: { open: [reviewFinding('r1-a')], mended: [] },
  skipped: [],
}
const said = (claims: object) => JSON.stringify({ summary: 'As I saw it.', ...claims })
const right = { outcome: 'unapproved', completed: ['parse'], open: ['show', 'r1-a'], checks_passed: false }

test('[COL-29] a report whose claims are the facts is taken in the words of the architect', () => {
  expect(readReport(said(right), facts)).toHaveProperty('value')
  expect(reportWords(said(right), facts)).toEqual({ text: 'As I saw it.', disputed: [] })
})

test.each([
  ['another outcome', { outcome: 'approved' }, 'outcome: the report says approved; it is unapproved'],
  ['a task that is not complete', { completed: ['parse', 'show'] }, 'completed: show is not complete'],
  ['a finding that is left out', { open: ['show'] }, 'open: r1-a is not settled'],
  ['a task that is complete', { open: ['show', 'r1-a', 'parse'] }, 'open: parse is complete'],
  ['checks that failed', { checks_passed: true }, 'not all that were run passed'],
])('[COL-29] %s is told once, and noted beside the words that stay', (_, claims, words) => {
  const text = said({ ...right, ...claims })
  expect(readReport(text, facts)).toEqual({ problems: [expect.stringContaining(words)] })
  expect(reportWords(text, facts)).toEqual({
    text: 'As I saw it.',
    disputed: [expect.stringContaining(words)],
  })
})

test('[COL-29] checks that nobody ran are never called passed, and work that was approved leaves no task open', () => {
  const unchecked = { ...facts, checks: [checkRun('lint', { passed: null })] }
  expect(reportWords(said(right), unchecked)?.disputed).toEqual([
    'checks_passed: no check was run; leave it out',
  ])
  const approved: ReportFacts = { ...facts, outcome: 'approved', findings: { open: [], mended: [] } }
  const all = { outcome: 'approved', completed: ['parse', 'show'], checks_passed: false }
  expect(reportWords(said(all), approved)?.disputed).toEqual([])
  expect(reportWords('It went well.', facts)).toBeUndefined()
})

test('[COL-29] the architect is shown the facts, and what its answer is compared with', () => {
  expect(reportPrompt(facts)).toMatch(/show[^]*partial[^]*r1-a[^]*compared with what was recorded/)
  expect(readReport(reportPrompt(facts), facts)).toHaveProperty('problems')
})
