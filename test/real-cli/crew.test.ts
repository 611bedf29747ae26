import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isToLand } from '../../src/cli/follow-workflow.ts'
import type { EventOf, EventType } from '../../src/contract/event.ts'
import { tokenTotal } from '../../src/core/ledger/model-usage.ts'
import { validateSession } from '../../src/session-file/validate.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { crewClis } from '../support/crew-clis.ts'
import type { Part } from '../support/crew-model.ts'
import { shellCall } from '../support/hermetic.ts'

const said = (value: unknown) => ({ text: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`` })
const done = (summary: string) => said({ status: 'completed', summary })
const write = (file_path: string) => ({
  name: 'Write',
  input: { file_path, content: 'export const x = 1\n' },
})
const bash = (command: string) => shellCall('claude', command)
const task = (task_id: string) => ({
  task_id,
  title: `Add ${task_id}`,
  description: `${task_id}.mjs exports a number. SCRIPT=play`,
  scope: [`${task_id}.mjs`],
  acceptance_criteria: ['the tests pass'],
})
const patch = '*** Begin Patch\n*** Add File: patched.txt\n+x\n*** End Patch\n'

/** Everybody tries what their role does not allow; the first review asks for a change, the second approves. */
const parts: readonly Part[] = [
  {
    when: '"review_id": "review-2"',
    steps: [said({ verdict: 'approved', summary: 'Good now.', findings: [], addressed: ['r1-one'] })],
  },
  {
    when: '"review_id": "review-1"',
    steps: [
      {
        tools: [
          shellCall('codex', 'echo x > reviewed.txt'),
          shellCall('codex', `apply_patch <<'END'\n${patch}END`),
          shellCall('codex', 'git diff --stat HEAD~1'),
        ],
      },
      said({
        verdict: 'changes_requested',
        summary: 'two is one.',
        findings: [
          { finding_id: 'one', severity: 'major', category: 'bug', file: 'two.mjs', description: 'it is 1' },
        ],
      }),
    ],
  },
  { when: 'Attempt 1 at the task one failed', steps: [said({ action: 'retry', reason: 'it can do it' })] },
  {
    when: '"task_id": "two-rev1"',
    steps: [
      { tools: [{ name: 'Read', input: { file_path: 'two.mjs' } }] },
      { tools: [{ name: 'Edit', input: { file_path: 'two.mjs', old_string: '1', new_string: '2' } }] },
      done('It is 2 now.'),
    ],
  },
  {
    when: '"task_id": "two"',
    steps: [
      { tools: [write('two.mjs'), bash('node --test')] },
      { tools: [bash('node -e 1')] },
      done('two is there.'),
    ],
  },
  { when: 'and was refused; change only one.mjs', steps: [done('one was there already.')] },
  {
    when: '"task_id": "one"',
    steps: [
      {
        tools: [
          write('one.mjs'),
          write('outside.mjs'),
          write('../other.txt'),
          bash('echo x > ../other.txt'),
          bash('echo x >> greet.mjs'),
          // What this writes is not plain to see before it ran.
          bash('cp greet.mjs sneaked.mjs'),
        ],
      },
      done('one is there.'),
    ],
  },
  {
    when: 'You are the architect',
    steps: [
      { tools: [write('planned.txt')] },
      said({ summary: 'Two files.', tasks: [task('one'), task('two')], checks: { test: 'node --test' } }),
    ],
  },
]

const names = (text: string) => text.trim().split('\n').toSorted()

test('[COL-74][COL-10][COL-11][COL-14][COL-15][COL-18][COL-19][COL-62] Claude Code develops and Codex reviews: side by side, mended, approved, and no role steps out of its bounds, by a shell neither', async ({
  skip,
}) => {
  const missing = clis.find(({ name }) => ['claude', 'codex'].includes(name) && !cliPath(name))
  if (missing) return skip(missingCli(missing))
  const m = await crewClis(parts)
  const before = m.git('rev-parse', 'main')
  const { workflow_id, session_id, branch } = await m.crew('Add one and two.')
  // What nobody can tell is harmless is asked for where the workflow is looked at.
  const asked = await m.until(workflow_id, ({ approvals }) => approvals.length > 0)
  expect(asked.approvals).toMatchObject([{ subject: 'tool', action: 'Bash: node -e 1' }])
  const { session_id: asking = '' } = asked.approvals[0] ?? {}
  expect(await m.client.getSession({ id: asking })).toMatchObject({
    friendly_name: 'developer-2-two',
    current_task: 'Add two',
  })
  await m.client.decideApproval({ id: asking, verdict: 'allow', scope: 'once' })
  const flow = await m.until(workflow_id, isToLand)
  expect(flow).toMatchObject({
    status: 'running',
    phase: 'land',
    report: {
      outcome: 'approved',
      branch,
      tasks: [
        { task_id: 'one', state: 'completed', attempts: 2, files: [{ path: 'one.mjs' }] },
        { task_id: 'two', state: 'completed', attempts: 1, files: [{ path: 'two.mjs' }] },
        { task_id: 'two-rev1', state: 'completed', lines_added: 1, lines_removed: 1 },
      ],
      rounds: [{ verdict: 'changes_requested' }, { verdict: 'approved', addressed: ['r1-one'] }],
      checks: [{ name: 'tests', command: 'node --test', passed: true }],
      findings: { open: [], mended: [{ finding_id: 'r1-one' }] },
    },
  })
  const all = await m.events()
  const of = <T extends EventType>(type: T): EventOf<T>[] =>
    all.filter((event): event is EventOf<T> => event.type === type)

  // Two programs were at work at the same time.
  const started = of('session.started').slice(1)
  const ended = of('session.completed')
  expect(started.map(({ payload }) => [payload.cli, payload.friendlyName])).toEqual([
    ['claude', expect.stringMatching(/^developer-[12]-(one|two)$/)],
    ['claude', expect.stringMatching(/^developer-[12]-(one|two)$/)],
    ['claude', 'developer-1-one'],
    ['codex', 'reviewer-review-1'],
    ['claude', 'developer-2-two-rev1'],
    ['codex', 'reviewer-review-2'],
  ])
  expect(started[1]?.seq).toBeLessThan(ended[0]?.seq ?? 0)
  expect(ended.map(({ payload }) => payload.message)).toContain('It is 2 now.')

  // Nothing of what was not allowed stands anywhere, and each try is told once.
  expect(names(m.git('ls-tree', '--name-only', branch))).toEqual(
    ['README.md', 'greet.mjs', 'greet.test.mjs', 'one.mjs', 'two.mjs'].toSorted(),
  )
  expect(m.git('diff', '--stat', before.trim(), branch, '--', 'greet.mjs')).toBe('')
  expect(existsSync(join(m.home, 'worktrees', 'other.txt'))).toBe(false)
  const denied = of('tool.call.denied').map(({ payload }) => [payload.tool, payload.gate, payload.rule])
  expect(denied).toEqual(
    expect.arrayContaining([
      ['Write', 'tool', 'tools'],
      ['Write', 'scope', 'scope'],
      ['Write', 'scope', 'workspace'],
      ['Bash', 'scope', 'workspace'],
      ['Bash', 'scope', 'scope'],
      ['Bash', 'policy', 'policy.Patch'],
    ]),
  )
  expect(denied).toHaveLength(7)
  expect(of('tool.call.failed')).toEqual([])
  expect(of('task.failed')).toMatchObject([
    {
      taskId: 'one',
      payload: { errorType: 'scope_violation', reason: expect.stringContaining('it changed sneaked.mjs') },
    },
  ])
  expect(of('decision.made').map(({ payload }) => [payload.subject, payload.choice])).toContainEqual([
    'retry',
    'retry',
  ])

  // What a program says it has done is checked in its work tree, before anybody reviews it.
  expect(of('test.passed').map(({ taskId }) => taskId)).toEqual([
    expect.stringMatching(/^(one|two)$/),
    expect.stringMatching(/^(one|two)$/),
    undefined,
    'two-rev1',
    undefined,
  ])

  // Nobody was asked for a command that only tests, and what was used is counted to the last answer.
  expect(of('approval.granted').map(({ payload }) => payload.by)).toEqual(['role', 'operator'])
  expect(of('message.queued').map(({ payload }) => payload.by)).toEqual(started.map(() => 'launch'))
  const used = [...of('llm.request.completed'), ...of('llm.usage.corrected')].map(
    ({ payload }) => [payload.responseId, tokenTotal(payload.usage)] as const,
  )
  const answers = m.model.requests().filter(({ answered }) => answered === 'step').length
  expect(new Map(used).size).toBe(answers)
  expect(flow.report?.tokens).toBe(new Map(used).values().reduce((sum, tokens) => sum + tokens, 0))

  // Nothing is left: no program, no work tree, no branch of a task, and the user's own is as it was.
  expect(m.processes()).toEqual([])
  expect(names(m.git('branch', '--format=%(refname:short)'))).toEqual(['main', branch].toSorted())
  expect(readdirSync(join(m.home, 'worktrees'))).toEqual([])
  expect([m.git('rev-parse', 'main'), m.git('status', '--porcelain')]).toEqual([before, ''])

  const { document, filename } = await m.client.exportLog({ id: session_id })
  expect(validateSession(document, { filename })).toEqual({ valid: true, errors: [], warnings: [] })
})
