import { expect, test } from 'vitest'
import { checkRun, crewRoundOf, reviewFinding, reviewReply } from '../../../test/support/collaboration.ts'
import { CrewReport } from '../../contract/collaboration/crew-report.ts'
import { crewRound } from '../delegation/reviewer-work.ts'
import { type CrewHistory, crewReport, reportMarkdown, settledFindings } from './crew-report.ts'

const history: CrewHistory = {
  crew: 'dates',
  workflowId: 'wf_1',
  request: 'Add dates to the report,\nand show them in the local form.',
  outcome: 'unapproved',
  summary: 'Dates are read and shown. The form for the year 0 is not decided.',
  branch: 'muster/dates',
  base: '0123456789abcdef0123456789abcdef01234567',
  commit: 'fedcba9876543210fedcba9876543210fedcba98',
  files: [
    { path: 'src/dates/parse.ts', change_type: 'created', lines_added: 41, lines_removed: 0 },
    { path: 'src/report.ts', change_type: 'modified', lines_added: 3, lines_removed: 2 },
    { path: 'test/logo.png', change_type: 'modified' },
  ],
  rounds: [
    crewRound(
      1,
      reviewReply({
        summary: 'Looks fine.',
        findings: [
          reviewFinding('r1-a', { file: 'src/dates/parse.ts', line: 12, description: 'Empty text\nthrows.' }),
          reviewFinding('r1-b', { severity: 'minor', description: 'No `changelog` entry.' }),
        ],
      }),
      { verdict: 'changes_requested', said: 'approved', reasons: ['r1-a is major and open'] },
    ),
    crewRound(
      2,
      reviewReply({
        verdict: 'changes_requested',
        summary: 'Better.',
        findings: [
          reviewFinding('r2-c', { severity: 'critical', file: 'src/report.ts', description: 'Year 0.' }),
        ],
        addressed: ['r1-a'],
      }),
      { verdict: 'changes_requested', said: 'changes_requested', reasons: [] },
    ),
  ],
  tasks: [
    {
      task_id: 'parse-dates',
      title: 'Read dates',
      state: 'completed',
      summary: 'Done.',
      files: [
        { path: 'src/dates/parse.ts', change_type: 'created', lines_added: 40, lines_removed: 0 },
        { path: 'test/logo.png', change_type: 'modified' },
      ],
    },
    {
      task_id: 'use-dates',
      title: 'Show dates',
      state: 'partial',
      because: 'it took too long',
      blockers: ['the locale is not known'],
      files: [{ path: 'src/report.ts', change_type: 'modified', lines_added: 3, lines_removed: 2 }],
    },
    {
      task_id: 'docs',
      title: 'Write it down',
      state: 'pending',
      because: 'it needs use-dates, which is only partly done',
      files: [],
    },
  ],
  checks: [
    checkRun('tests', { command: 'npm test', duration_ms: 900 }),
    checkRun('type_check', { command: 'npx tsc', passed: false }),
    checkRun('lint', {
      command: 'npm run lint',
      required: false,
      passed: null,
      because: 'the review timed out',
    }),
  ],
  costUsd: 1.234,
  tokens: 123_456,
  durationMs: 754_000,
  phases: [{ phase: 'plan', durationMs: 60_000 }],
}

test('[COL-29] the report says everything that happened, counted', () => {
  const report = crewReport(history)
  expect(CrewReport.parse(report)).toEqual(report)
  expect(report.tasks[0]).toMatchObject({ lines_added: 40, lines_removed: 0 })
  expect(report.findings.open.map((each) => each.finding_id)).toEqual(['r2-c'])
  expect(report.findings.mended).toMatchObject([
    { finding_id: 'r1-a', fixed_in_iteration: 2 },
    { finding_id: 'r1-b', fixed_in_iteration: 2 },
  ])
  expect(report.skipped).toEqual([
    { what: 'check lint', why: 'the review timed out' },
    { what: 'task docs', why: 'it needs use-dates, which is only partly done' },
  ])
  expect(crewReport({ ...history, rounds: [], tasks: [], checks: [] })).toMatchObject({
    findings: { open: [], mended: [] },
    skipped: [],
  })
})

test('[COL-29] the report for people says verdict, branch and what stays open first', async () => {
  await expect(reportMarkdown(crewReport(history))).toMatchFileSnapshot(
    '../../../test/golden/collaboration/report.md',
  )
})

test('[COL-29] a report of nothing is short, and foreign words start nothing new in it', () => {
  const { branch: _, base: _b, commit: _c, costUsd: _d, tokens: _t, ...rest } = history
  const text = reportMarkdown(
    crewReport({
      ...rest,
      request: 'x\n# y',
      outcome: 'failed',
      summary: '# a\nb',
      files: [],
      rounds: [],
      tasks: [],
      checks: [],
    }),
  )
  expect(text).toBe(
    '# Failed: x # y\n\nNo branch was made.\n0 files, +0 −0; 0 reviews; 12 min 34 s\n\n\\# a\nb\n',
  )
})

test('[COL-20] a critical finding stays open until a review calls it mended', () => {
  const critical = reviewFinding('r1-x', { severity: 'critical' })
  const first = crewRoundOf(1, { findings: [critical] })
  const open = (...more: ReturnType<typeof crewRoundOf>[]) =>
    settledFindings([first, ...more]).open.map((each) => each.finding_id)
  expect(open(crewRoundOf(2))).toEqual(['r1-x'])
  expect(open(crewRoundOf(2, { addressed: ['r1-x'] }))).toEqual([])
  expect(open(crewRoundOf(2, { findings: [{ ...critical, fixed_in_iteration: 2 }] }))).toEqual([])
  const again = crewRoundOf(3, { findings: [critical] })
  expect(open(crewRoundOf(2, { addressed: ['r1-x'] }), again)).toEqual(['r1-x'])
})
