import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reviewFinding } from '../../../test/support/collaboration.ts'
import { developerFromProse, readDeveloper, readReview } from './read-work-replies.ts'

const said = (value: unknown) => `Here it is.\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
const problemsOf = (read: object) => ('problems' in read ? (read.problems as string[]) : [])

test("[COL-26] a developer's own words for a status and its notes are understood", () => {
  expect(readDeveloper(said({ status: 'Done', summary: 'ok', notes: 'n', files: ['x'] }))).toEqual({
    value: { status: 'completed', summary: 'ok', implementation_notes: 'n' },
  })
  const review = { tests_run: 'yes', tests_passed: true, type_check_passed: null }
  expect(readDeveloper(said({ status: 'failed', summary: '', self_review: review, blockers: 'x' }))).toEqual({
    value: {
      status: 'failed',
      summary: '',
      self_review: { tests_run: true, tests_passed: true, type_check_passed: false },
      blockers: ['x'],
    },
  })
  expect(problemsOf(readDeveloper(said({ summary: 'I did it' })))).toEqual([
    'status: expected completed, partial or failed',
  ])
  expect(problemsOf(readDeveloper('All done!'))).toEqual(['there is no JSON object in the answer'])
  expect(developerFromProse(' All done! ')).toMatchObject({ status: 'partial', summary: 'All done!' })
})

const review = { round: 2, earlier: [reviewFinding('r1-old', { severity: 'critical' })] }

test('[COL-33] findings of a review get names of their round; one that stands again keeps its own', () => {
  const read = readReview(
    said({
      verdict: 'Request changes',
      summary: 's',
      findings: [
        {
          finding_id: 'f1',
          severity: 'blocker',
          category: 'security',
          location: { file: 'a.ts', line_start: 4 },
          message: 'm',
        },
        { id: 'f1', severity: 'nit', file: 'b.ts', description: 'd' },
        { finding_id: 'r1-old', severity: 'critical', category: 'bug', file: 'a.ts', description: 'still' },
      ],
      required_changes: [{ description: 'do', related_findings: ['f1'], priority: 'must_fix' }],
    }),
    review,
  )
  if (!('value' in read)) return expect.unreachable(read.problems.join())
  expect(read.value.verdict).toBe('changes_requested')
  expect(read.value.findings).toMatchObject([
    { finding_id: 'r2-f1', severity: 'critical', file: 'a.ts', line: 4, description: 'm' },
    { finding_id: 'r2-f1-2', severity: 'suggestion', file: 'b.ts' },
    { finding_id: 'r1-old' },
  ])
  expect(read.value.required_changes?.[0]?.related_findings).toEqual(['r2-f1'])
})

test.each<[string, unknown, string]>([
  ['no verdict', { findings: [] }, 'verdict: expected approved'],
  ['a strange verdict', { verdict: 'meh' }, 'verdict: expected approved'],
  [
    'a strange severity',
    { verdict: 'approved', findings: [{ severity: 'doom', description: 'd' }] },
    'findings.0.severity',
  ],
  [
    'a finding that says nothing',
    { verdict: 'approved', findings: [{ severity: 'minor' }] },
    'findings.0.description',
  ],
  ['a critical finding left out', { verdict: 'approved', addressed: [] }, 'r1-old was critical'],
])(
  '[COL-20, COL-33] nothing in a review passes for harmless because it cannot be read: %s',
  (_, value, words) => {
    const found = problemsOf(
      readReview(said({ summary: 's', addressed: ['r1-old'], ...(value as object) }), review),
    )
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(words)
  },
)

test('[COL-26, COL-33] whatever a developer or reviewer says, reading it gives a value or problems', () => {
  const words = fc.oneof(
    fc.string(),
    fc.jsonValue().map(said),
    fc.jsonValue().map((value) => said({ verdict: value, findings: value, status: value, summary: value })),
  )
  fc.assert(
    fc.property(words, (text) => {
      for (const read of [readDeveloper(text), readReview(text, review)]) {
        if (!('value' in read)) expect(read.problems.length).toBeGreaterThan(0)
      }
    }),
  )
})
