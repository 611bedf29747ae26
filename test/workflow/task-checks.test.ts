import { expect, test } from 'vitest'
import type { EventOf, EventType } from '../../src/contract/event.ts'
import type { MultiAgentSession } from '../../src/contract/session-file/multi-agent-session.ts'
import type { DeveloperOutput } from '../../src/contract/session-file/outputs.ts'
import { validateSession } from '../../src/session-file/validate.ts'
import { done, played, playedTask, said, write } from '../support/crew-play.ts'

type Bed = Awaited<ReturnType<typeof played>>
const eventsOf = async <T extends EventType>(m: Bed, session: string, type: T) =>
  (await m.events(session, type)) as EventOf<T>[]

const proud = { self_review: { tests_run: true, tests_passed: true, type_check_passed: true } }
const asserts = (file: string, claim: string) =>
  write(
    file,
    `import assert from 'node:assert/strict'\nimport { test } from 'node:test'\ntest('t', async () => {\n  ${claim}\n})\n`,
  )
const approved = said({ verdict: 'approved', summary: 'Good.', findings: [] })

/** What was reported of each attempt at a task, oldest first. */
async function outputs(m: Bed, session: string, taskId: string): Promise<DeveloperOutput[]> {
  const all = (await eventsOf(m, session, 'agent.message.created')).map(({ payload }) => payload)
  return all
    .filter(({ messageType }) => messageType === 'task_completion')
    .map(({ payload }) => payload as DeveloperOutput)
    .filter(({ task_id }) => task_id === taskId)
}

/** The checks below the span of a task: what ran, at which commit, and whether it passed. */
async function checksOf(m: Bed, session: string, taskId: string) {
  const tasks = await eventsOf(m, session, 'agent.task.assigned')
  const spans = tasks.filter(({ payload }) => payload.taskId === taskId).map(({ spanId }) => spanId)
  const all = [
    ...(await eventsOf(m, session, 'test.passed')),
    ...(await eventsOf(m, session, 'test.failed')),
  ].toSorted((a, b) => a.seq - b.seq)
  return all.filter(({ spanId }) => spans.includes(spanId))
}

test('[COL-16][COL-42][COL-63] a task is done when it compiles and its tests pass in its own work tree, with what it needs in it; else it goes back with what was printed', async () => {
  const m = await played(
    [
      { when: '"review_id": "review-1"', steps: [approved] },
      { when: 'Attempt 1 at the task slip', steps: [said({ action: 'retry', reason: 'so near' })] },
      {
        when: 'You are the architect',
        steps: [
          said({
            summary: 'Four.',
            tasks: [
              playedTask('lib', ['lib.mjs']),
              playedTask('use', ['use.test.mjs'], { depends_on: ['lib'] }),
              playedTask('slip', ['slip.test.mjs']),
              playedTask('docs', ['NOTE.md'], { testing_required: false }),
            ],
          }),
        ],
      },
      {
        when: 'the check tests failed (node --test)',
        steps: [
          { tools: [{ name: 'Read', input: { file_path: 'slip.test.mjs' } }] },
          asserts('slip.test.mjs', 'assert.equal(1 + 1, 2)'),
          done('Now it is right.'),
        ],
      },
      {
        when: '"task_id": "slip"',
        steps: [asserts('slip.test.mjs', 'assert.equal(1 + 1, 3, "not three")'), done('Done.', proud)],
      },
      { when: '"task_id": "lib"', steps: [write('lib.mjs', 'export const lib = 1\n'), done('lib')] },
      {
        when: '"task_id": "use"',
        steps: [asserts('use.test.mjs', "assert.equal((await import('./lib.mjs')).lib, 1)"), done('use')],
      },
      { when: '"task_id": "docs"', steps: [write('NOTE.md', 'note\n'), done('docs')] },
    ],
    {
      checked: [
        'description: checked',
        'members: [{ role: architect }, { role: developer, count: 2 }, { role: reviewer }]',
        'checks: { test: node --test, type_check: "test ! -e broken", custom: [{ name: lint, command: "true" }] }',
      ].join('\n'),
    },
  )
  const { workflow_id, session_id } = await m.play('Do four things.', { crew: 'checked' })
  const { report } = await m.ended(workflow_id)
  expect(report).toMatchObject({
    outcome: 'approved',
    rounds: [{ verdict: 'approved' }],
    tasks: [
      { task_id: 'lib', state: 'completed', attempts: 1 },
      { task_id: 'use', state: 'completed', attempts: 1 },
      { task_id: 'slip', state: 'completed', attempts: 2 },
      { task_id: 'docs', state: 'completed', attempts: 1 },
    ],
  })
  const failed = await eventsOf(m, session_id, 'task.failed')
  expect(failed).toMatchObject([
    {
      taskId: 'slip',
      payload: {
        errorType: 'exception',
        reason: 'the check tests failed (node --test): it ended with 1 exit code',
        suggestedAction: 'retry',
      },
    },
  ])
  expect(new Set((await eventsOf(m, session_id, 'task.completed')).map(({ taskId }) => taskId))).toEqual(
    new Set(['lib', 'use', 'slip', 'docs', 'review-1']),
  )
  // Tests and types, below the task, at the commit that it made; what was red is looked at where the task began, too.
  const slipped = await checksOf(m, session_id, 'slip')
  expect(slipped.map(({ type, payload }) => [type, payload.command])).toEqual([
    ['test.failed', 'node --test'],
    ['test.passed', 'test ! -e broken'],
    ['test.passed', 'node --test'],
    ['test.passed', 'node --test'],
    ['test.passed', 'test ! -e broken'],
  ])
  const base = m.git('rev-parse', 'main').trim()
  const patches = await eventsOf(m, session_id, 'patch.created')
  const made = patches.flatMap(({ taskId, payload }) =>
    taskId === 'slip' && payload.commit ? [payload.commit] : [],
  )
  expect(slipped.map(({ payload }) => payload.commit)).toEqual([made[0], made[0], base, made[1], made[1]])
  expect(slipped[0]?.payload.output).toContain('not three')
  expect((await checksOf(m, session_id, 'docs')).map(({ payload }) => payload.command)).toEqual([
    'test ! -e broken',
  ])
  expect(await checksOf(m, session_id, 'use')).toHaveLength(2)
  // The next attempt is told the command and the end of what it printed, as a message.
  const again = (await eventsOf(m, session_id, 'agent.task.assigned')).findLast(
    ({ payload }) => payload.taskId === 'slip',
  )
  expect(again?.payload.input).toMatchObject({
    context: {
      previous_attempts: [
        {
          attempt_number: 1,
          outcome: 'partial',
          feedback: expect.stringMatching(/the check tests failed \(node --test\)[^]*not three/),
        },
      ],
    },
  })
  // What is said of the tests is what they showed.
  expect(await outputs(m, session_id, 'slip')).toMatchObject([
    { status: 'partial', self_review: { tests_run: true, tests_passed: false, type_check_passed: true } },
    { status: 'completed', self_review: { tests_run: true, tests_passed: true, type_check_passed: true } },
  ])
  expect(m.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(m.git('branch', '--format=%(refname:short)').trim().split('\n')).toHaveLength(2)
  const { document, filename } = await m.client().exportLog({ id: session_id })
  expect(validateSession(document, { filename })).toEqual({ valid: true, errors: [], warnings: [] })
  const subs = (document as MultiAgentSession).sub_sessions.filter(({ task }) => task.task_id === 'slip')
  expect(subs.map(({ status }) => status)).toEqual(['failed', 'success'])
})

const alone = (more: string) =>
  `description: alone\nmembers: [{ role: developer }]\nlimits: { max_iterations: 1 }\non_max_iterations: abort\n${more}`

test('[COL-16] tests that were red before a task began do not count against it, and it says so; the review still asks for them', async () => {
  const m = await played(
    [{ when: '"task_id": "request"', steps: [write('note.txt', 'x\n'), done('Written.', proud)] }],
    { alone: alone('checks: { test: node --test }') },
  )
  m.git('rm', '-q', 'greet.mjs')
  m.git('commit', '-qm', 'Broken')
  const { workflow_id, session_id } = await m.play('Write a note.', { crew: 'alone' })
  expect(await m.ended(workflow_id)).toMatchObject({
    report: {
      outcome: 'unapproved',
      tasks: [{ state: 'completed', attempts: 1 }],
      checks: [{ passed: false, required: true }],
    },
  })
  expect(await eventsOf(m, session_id, 'task.failed')).toEqual([])
  const checks = await checksOf(m, session_id, 'request')
  expect(checks.map(({ type }) => type)).toEqual(['test.failed', 'test.failed'])
  expect(checks[1]?.payload.commit).toBe(m.git('rev-parse', 'main').trim())
  const [output] = await outputs(m, session_id, 'request')
  expect(output?.self_review).toEqual({
    tests_run: true,
    tests_passed: false,
    type_check_passed: false,
    known_issues: [expect.stringMatching(/already failed before the task began; it does not count/)],
  })
})

test('[COL-16] work that stays red is done in part: the review cannot approve it', async () => {
  const m = await played(
    [
      {
        when: '"task_id": "request"',
        steps: [asserts('red.test.mjs', 'assert.fail("never")'), done('Done, all is green.', proud)],
      },
    ],
    { alone: alone('checks: { test: node --test }') },
  )
  const { workflow_id, session_id } = await m.play('Be red.', { crew: 'alone' })
  expect(await m.ended(workflow_id)).toMatchObject({
    report: {
      outcome: 'unapproved',
      tasks: [{ state: 'partial', attempts: 2, because: expect.stringMatching(/^the check tests failed/) }],
      rounds: [{ verdict: 'changes_requested' }],
    },
  })
  expect(await eventsOf(m, session_id, 'task.failed')).toHaveLength(2)
  expect(
    (await eventsOf(m, session_id, 'decision.made'))
      .filter(({ payload }) => payload.subject === 'retry')
      .map(({ payload }) => payload.choice),
  ).toEqual(['retry', 'abort'])
})

test('[COL-16] where nobody names a command there is nothing to fail, and that is said', async () => {
  const m = await played(
    [
      {
        when: '"task_id": "request"',
        steps: [asserts('red.test.mjs', 'assert.fail("never")'), done('Written.')],
      },
    ],
    { alone: alone('') },
  )
  const { workflow_id, session_id } = await m.play('Write a note.', { crew: 'alone' })
  expect(await m.ended(workflow_id)).toMatchObject({
    report: { outcome: 'approved', tasks: [{ state: 'completed', attempts: 1 }] },
  })
  expect(await checksOf(m, session_id, 'request')).toEqual([])
  const [output] = await outputs(m, session_id, 'request')
  expect(output?.self_review).toEqual({
    tests_run: false,
    tests_passed: false,
    type_check_passed: false,
    known_issues: ['no tests were run by Muster, or seen to run'],
  })
})
