import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkRun, planTask, reviewFinding, reviewReply } from '../../../test/support/collaboration.ts'
import { runs } from '../../../test/support/size.ts'
import type { PlanTask, RoundAction } from '../../contract/collaboration/replies.ts'
import { catalogue } from '../../contract/event.ts'
import { defaultMaxIterations } from '../../contract/session-file/message-payloads.ts'
import { DeveloperInput } from '../../contract/session-file/outputs.ts'
import { developerInput, type Work } from '../delegation/developer-work.ts'
import { afterAnswer, afterReview, findingsToFix, newestWork, revise } from './after-review.ts'
import { checkPlan } from './check-plan.ts'
import { readRoundReply } from './read-crew-replies.ts'

const loop = { iterations: 1, maxIterations: defaultMaxIterations, onLimit: 'human_review' } as const

test('[COL-64, COL-65] where there is no architect changes are revised, a rejection is planned again, and the rules say so', () => {
  expect(afterReview({ ...loop, verdict: 'changes_requested' })).toMatchObject({
    next: 'revise',
    isByRules: true,
    decision: { reason: expect.stringContaining('there is no architect') },
  })
  expect(afterReview({ ...loop, verdict: 'rejected', iterations: 2 })).toMatchObject({
    next: 'replan',
    decision: { choice: 'replan' },
  })
})

test('[COL-28] the architect decides about a round that was not approved; where it is silent the rules do, and say why', () => {
  const said = (action: RoundAction) =>
    afterReview({ ...loop, verdict: 'changes_requested', asked: { reply: { action, reason: 'so' } } })
  for (const action of ['revise', 'replan', 'abort'] as const)
    expect(said(action)).toMatchObject({
      next: action,
      isByRules: false,
      decision: { choice: action, reason: 'the architect decided: so' },
    })
  const silent = afterReview({ ...loop, verdict: 'rejected', asked: { silent: 'it gave\nnone' } })
  expect(silent).toMatchObject({ next: 'replan', isByRules: true })
  expect(silent.decision.reason).toContain('(it gave none)')
  expect(catalogue['decision.made'].payload.safeParse(silent.decision).success).toBe(true)
})

test('[COL-28][COL-66] an architect can neither approve nor have more rounds than there may be', () => {
  expect(readRoundReply('{"action": "approve", "reason": "good enough"}')).toHaveProperty('problems')
  const asked = { reply: { action: 'revise', reason: 'once more' } } as const
  expect(afterReview({ ...loop, verdict: 'rejected', iterations: 3, asked }).next).toBe('human_review')
})

test.each(['human_review', 'abort', 'force_approve'] as const)(
  '[COL-66] at the limit it is %s, with the choice to record',
  (onLimit) => {
    expect(afterReview({ ...loop, onLimit, iterations: 3, verdict: 'changes_requested' })).toEqual({
      next: onLimit,
      isByRules: true,
      decision: {
        subject: 'approach',
        candidates: ['human_review', 'abort', 'force_approve'],
        choice: onLimit,
        reason: '3 of 3 rounds are used up, and the last review says changes_requested',
      },
    })
  },
)

test('[COL-65] however the verdicts fall and whatever the architect says, the loop ends at its limit', () => {
  const round = fc.record({
    verdict: fc.constantFrom('changes_requested' as const, 'rejected' as const),
    asked: fc.constantFrom(undefined, { reply: { action: 'revise' as const, reason: 'x' } }),
  })
  fc.assert(
    fc.property(fc.infiniteStream(round), fc.integer({ min: 0, max: 6 }), (rounds, maxIterations) => {
      let iterations = 0
      for (const each of rounds) {
        iterations += 1
        const after = afterReview({ ...loop, ...each, iterations, maxIterations })
        if (after.next === 'human_review') break
        expect(iterations).toBeLessThan(maxIterations)
      }
      expect(iterations).toBe(Math.max(1, maxIterations))
    }),
  )
})

test('[COL-66] a person can take the work, give it one more round, or stop', () => {
  expect(afterAnswer('force_approve', 'rejected')).toBe('force_approve')
  expect(afterAnswer('abort', 'rejected')).toBe('abort')
  expect(afterAnswer('iterate', 'rejected')).toBe('replan')
  expect(afterAnswer('iterate', 'changes_requested')).toBe('revise')
})

const worked = (...tasks: PlanTask[]) => ({
  plan: tasks,
  work: tasks.map((task): Work => ({ task, attempts: [] })),
})

test('[COL-32] each finding goes to the task that may change its file, as feedback of an attempt', () => {
  const findings = [
    reviewFinding('r1-x', { file: 'src/a/x.ts', line: 3, suggestion: 'trim it' }),
    reviewFinding('r1-y', { file: './src/b/y.ts', severity: 'minor' }),
    reviewFinding('r1-z', { file: 'src/a/z.ts', severity: 'suggestion' }),
  ]
  const work = revise({ round: 1, ...worked(planTask('a'), planTask('b')), findings })
  expect(work.map((each) => [each.task.task_id, each.revises])).toEqual([
    ['a-rev1', 'a'],
    ['b-rev1', 'b'],
  ])
  const [first] = work
  const input = developerInput(first as Work)
  expect(DeveloperInput.safeParse(input).success).toBe(true)
  expect(input.constraints?.scope).toEqual(['src/a/**'])
  expect(input.context?.previous_attempts).toEqual([
    {
      attempt_number: 1,
      outcome: 'changes_requested',
      feedback:
        '- [r1-x] major, bug src/a/x.ts:3: what r1-x found\n  Suggestion: trim it\n- [r1-z] suggestion, bug (may be left) src/a/z.ts: what r1-z found',
    },
  ])
  expect(input.task_description).toContain('what r1-x found')
})

test('[COL-64] what a task left undone goes back to that task, beside what the review found in its files', () => {
  const found = [reviewFinding('r1-x', { file: 'src/b/x.ts' })]
  const reply = reviewReply({ verdict: 'changes_requested', findings: found })
  const unfinished = [{ task_id: 'b', why: 'the test is missing' }]
  const findings = findingsToFix({ reply, checks: [], earlier: [], round: 1, unfinished })
  const work = revise({ round: 1, ...worked(planTask('a'), planTask('b')), findings })
  expect(work.map(({ task, revises }) => [task.task_id, revises])).toEqual([['b-rev1', 'b']])
})

test('[COL-32] a second revision keeps the first words, and knows of both attempts', () => {
  const first = worked(planTask('a'))
  const once = revise({ round: 1, ...first, findings: [reviewFinding('r1-x')] })
  const work = newestWork(first.work, once)
  const twice = revise({ round: 2, plan: first.plan, work, findings: [reviewFinding('r2-y')] })
  const [task] = twice
  expect(task?.task.task_id).toBe('a-rev2')
  expect(task?.task.description).toMatch(/^All of a\.\n/)
  expect(task?.task.description).not.toContain('r1-x')
  expect(task?.attempts.map((each) => each.attempt_number)).toEqual([1, 2])
})

test('[COL-32] what belongs to no task gets one of its own, which waits for the others', () => {
  const findings = [
    reviewFinding('r1-x', { file: 'src/a/x.ts' }),
    reviewFinding('r1-checks'),
    reviewFinding('r1-docs', { file: 'docs/a.md' }),
  ]
  const work = revise({ round: 1, ...worked(planTask('a'), planTask('rest')), findings })
  expect(work.map((each) => each.task.task_id)).toEqual(['a-rev1', 'rest-all-rev1'])
  expect(work[1]?.task).toMatchObject({
    scope: ['src/a/**', 'src/rest/**', 'docs/a.md'],
    depends_on: [{ task_id: 'a-rev1', type: 'hard' }],
  })
  expect(work[1]).not.toHaveProperty('revises')
})

test('[COL-32] suggestions alone start no revision, unless there is nothing else', () => {
  const idea = reviewFinding('r1-idea', { file: 'src/b/x.ts', severity: 'suggestion' })
  const both = worked(planTask('a'), planTask('b'))
  const bug = reviewFinding('r1-bug', { file: 'src/a/x.ts' })
  expect(revise({ round: 1, ...both, findings: [bug, idea] })).toMatchObject([
    { revises: 'a', findings: [bug] },
  ])
  expect(revise({ round: 1, ...both, findings: [idea] })).toMatchObject([{ revises: 'b', findings: [idea] }])
})

test('[COL-32] nothing that a review leaves is lost on the way to revisions', () => {
  const reply = reviewReply({
    verdict: 'changes_requested',
    findings: [reviewFinding('r1-a'), reviewFinding('r1-done', { fixed_in_iteration: 1 })],
    required_changes: [
      { change_id: 'c1', priority: 'must_fix', related_findings: ['r1-a'], description: 'covered' },
      { change_id: 'c2', priority: 'should_fix', related_findings: [], description: 'not covered' },
    ],
  })
  const checks = [checkRun('tests', { passed: false, output: 'x failed' }), checkRun('types')]
  const earlier = [reviewFinding('r0-old', { severity: 'critical' })]
  const found = findingsToFix({ reply, checks, earlier, round: 1 })
  expect(found.map((each) => each.finding_id)).toEqual(['r1-a', 'r0-old', 'r1-c2', 'r1-check-tests'])
  expect(found.at(-1)).toMatchObject({ severity: 'critical', rationale: 'it ended with:\nx failed' })
  const silent = reviewReply({ verdict: 'changes_requested', summary: 'Not yet.' })
  expect(findingsToFix({ reply: silent, checks: [], earlier: [], round: 2 })).toMatchObject([
    { finding_id: 'r2-summary', description: 'Not yet.' },
  ])
})

const names = ['a', 'b', 'c', 'd']
const plan = fc
  .array(fc.tuple(fc.subarray(names), fc.subarray(['src', 'src/x', 'lib', 'lib/*.ts'], { minLength: 1 })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((each) =>
    each.map(([needs, scope], i) =>
      planTask(
        names[i] as string,
        needs.filter((name) => names.indexOf(name) < i),
        { scope },
      ),
    ),
  )
const found = fc.array(
  fc.record({
    file: fc.constantFrom('', 'src/x/a.ts', 'src/y.ts', 'lib/z.ts', 'lib/deep/z.ts', 'other.md', '../out'),
    severity: fc.constantFrom('critical', 'major', 'minor', 'suggestion'),
  }),
  { minLength: 1, maxLength: 8 },
)

test('[COL-32] any findings on any sound plan give a sound plan of revisions that has all that is more than a suggestion', () => {
  fc.assert(
    fc.property(plan, found, (tasks, shapes) => {
      fc.pre(checkPlan({ tasks }, { maxTasks: 9 }).length === 0)
      let { work } = worked(...tasks)
      for (const round of [1, 2]) {
        const findings = shapes.slice(round - 1).map((shape, i) => reviewFinding(`r${round}-${i}`, shape))
        if (findings.length === 0) return
        const made = revise({ round, plan: tasks, work, findings })
        const taken = made.flatMap((each) => each.findings)
        expect(new Set(taken).size).toBe(taken.length)
        for (const finding of findings)
          if (finding.severity !== 'suggestion') expect(taken).toContain(finding)
        expect(made.length).toBeGreaterThan(0)
        const problems = checkPlan({ tasks: made.map((each) => each.task) }, { maxTasks: 9 })
        expect(problems.filter((problem) => !problem.includes('kept for later work'))).toEqual([])
        work = newestWork(work, made)
      }
    }),
    runs(500),
  )
})
