import { expect, test } from 'vitest'
import type { EventOf } from '../../src/contract/event.ts'
import { bash, done, played, playedTask, said, write } from '../support/crew-play.ts'

test('[COL-10][COL-11][COL-15][COL-61][COL-62][COL-63][COL-67][COL-68] what fails is decided by the architect: again with more time, by another, or in smaller parts; late reviewers leave it to the checks', async () => {
  const m = await played(
    [
      { when: 'Attempt 1 at the task slow', steps: [said({ action: 'retry', reason: 'it was near' })] },
      { when: 'Attempt 1 at the task wide', steps: [said({ action: 'reassign', reason: 'other eyes' })] },
      { when: 'Attempt 1 at the task big', steps: [said({ action: 'split', reason: 'too much' })] },
      {
        when: 'Cut it into smaller tasks',
        steps: [
          said({ summary: 'Two.', tasks: [playedTask('big-a', ['big/a']), playedTask('big-b', ['big/b'])] }),
        ],
      },
      {
        when: 'You are the architect',
        steps: [
          write('mine.txt', 'by the architect'),
          said({
            summary: 'Three.',
            tasks: [
              playedTask('slow', ['slow.txt']),
              playedTask('wide', ['wide.txt']),
              playedTask('big', ['big/**']),
            ],
          }),
        ],
      },
      { when: '"review_id": "review-1"', steps: [{ text: 'too late', delayMs: 15_000 }] },
      // A second attempt goes on from what the first left.
      {
        when: 'the attempt took too long',
        steps: [bash('echo whole >> slow.txt'), done('All of it.')],
      },
      { when: '"task_id": "slow"', steps: [write('slow.txt', 'half\n'), { text: 'hm', delayMs: 90_000 }] },
      { when: 'I need other.txt', steps: [write('wide.txt', 'wide\n'), done('It goes without.')] },
      {
        when: '"task_id": "wide"',
        steps: [write('other.txt', 'x'), said({ status: 'failed', summary: 'I need other.txt.' })],
      },
      { when: '"task_id": "big-a"', steps: [write('big/a', 'a\n'), done('a')] },
      { when: '"task_id": "big-b"', steps: [write('big/b', 'b\n'), done('b')] },
      {
        when: '"task_id": "big"',
        steps: [write('big/begun', 'begun\n'), said({ status: 'failed', summary: 'It is too much for me.' })],
      },
    ],
    {
      hasty: [
        'description: little time',
        'members: [{ role: architect }, { role: developer, count: 3 }, { role: reviewer }]',
        'limits: { developer_minutes: 0.4, reviewer_minutes: 0.04 }',
        'checks: { test: sleep 1.3, custom: [{ name: lint, command: sleep 1.3 }, { name: links, command: "false" }] }',
      ].join('\n'),
    },
  )
  const { workflow_id, session_id, branch } = await m.play('Do three things.', { crew: 'hasty' })
  const { phase, report } = await m.ended(workflow_id)
  expect(phase).toBe('land')
  expect(report).toMatchObject({
    outcome: 'approved',
    tasks: [
      { task_id: 'slow', state: 'completed', attempts: 2 },
      { task_id: 'wide', state: 'completed', attempts: 2 },
      { task_id: 'big', state: 'cancelled', because: 'it was split into big-a, big-b' },
      { task_id: 'big-a', state: 'completed' },
      { task_id: 'big-b', state: 'completed' },
    ],
    checks: [{ passed: true }, { passed: true }, { name: 'links', passed: null, required: false }],
  })
  expect(report?.skipped.map(({ what }) => what)).toEqual(
    expect.arrayContaining(['the check links', 'the review by reviewer']),
  )
  for (const [file, text] of Object.entries({
    'slow.txt': 'half\nwhole',
    'wide.txt': 'wide',
    'big/a': 'a',
    'big/begun': 'begun',
  }))
    expect(m.git('show', `${branch}:${file}`)).toContain(text)
  expect(m.git('ls-tree', '-r', '--name-only', branch)).not.toContain('other.txt')
  const decided = (await m.events(session_id, 'decision.made')) as EventOf<'decision.made'>[]
  const choices = decided.filter(({ payload }) => payload.subject === 'retry')
  expect(new Set(choices.map(({ payload }) => payload.choice))).toEqual(
    new Set(['reassign', 'retry', 'split']),
  )
  expect(new Set(choices.map(({ actor }) => actor))).toEqual(new Set(['architect']))
  const failed = (await m.events(session_id, 'task.failed')) as EventOf<'task.failed'>[]
  expect(new Map(failed.map(({ taskId, payload }) => [taskId, payload.errorType]))).toEqual(
    new Map([
      ['slow', 'timeout'],
      ['wide', 'exception'],
      ['big', 'exception'],
      ['review-1', 'timeout'],
    ]),
  )
  const messages = (await m.events(session_id, 'agent.message.created')) as EventOf<'agent.message.created'>[]
  const about = (type: string) =>
    messages.filter(({ payload }) => payload.messageType === type).map(({ payload }) => payload)
  expect(about('task_completion')).toContainEqual(
    expect.objectContaining({ payload: expect.objectContaining({ task_id: 'slow', status: 'partial' }) }),
  )
  expect(about('abort')).toMatchObject([
    { payload: { scope: 'task', target_id: 'slow' } },
    { to: { agentId: 'reviewer' }, payload: { scope: 'task', target_id: 'review-1' } },
  ])
  expect(about('review_result')).toEqual([])
  const doers = about('task_assignment')
    .filter(({ payload }) => JSON.stringify(payload).includes('"task_id":"wide"'))
    .map(({ to }) => to.agentId)
  expect(doers).toEqual(['developer-2', 'developer-2-try2'])
  expect(m.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(m.git('branch', '--format=%(refname:short)').trim().split('\n').toSorted()).toEqual(['main', branch])
  const denied = (await m.events(session_id, 'tool.call.denied')) as EventOf<'tool.call.denied'>[]
  expect(denied).toMatchObject([
    { actor: 'architect', payload: { tool: 'Write' } },
    { actor: 'developer-2', payload: { reason: expect.stringContaining('wide.txt') } },
  ])
})

test('[COL-12][COL-62][COL-66] without an architect the rules decide about a failure, and at the limit of the rounds a person does', async () => {
  const m = await played(
    [
      {
        when: '"review_id": "review-1"',
        steps: [said({ verdict: 'approved', summary: 'Looks right.', findings: [] })],
      },
      {
        when: 'the attempt ended in an error',
        steps: [
          write('note.txt', 'note\n'),
          said({ status: 'partial', summary: 'There.', blockers: ['no ending yet'] }),
        ],
      },
      { when: '"task_id": "request"', steps: [said({ status: 'failed', summary: 'I slipped.' })] },
    ],
    {
      two: 'description: two\nmembers: [{ role: developer }, { role: reviewer }]\nlimits: { max_iterations: 1 }',
    },
  )
  const { workflow_id, session_id } = await m.play('Write a note.', { crew: 'two' })
  const asked = await m.until(workflow_id, ({ approvals }) => approvals.length > 0)
  expect(asked.approvals).toMatchObject([
    {
      action: expect.stringContaining('Looks right.'),
      options: ['one more round', 'accept as it is', 'stop'],
    },
  ])
  const answer = (choice: string) =>
    m.client().decideApproval({ id: session_id, verdict: 'allow', scope: 'once', answers: { choice } })
  await expect(answer('abrot')).rejects.toMatchObject({
    code: 'invalid',
    message: 'abrot is not an answer to this; choose one of: one more round, accept as it is, stop',
  })
  // A yes alone would spend money on another round.
  await expect(
    m.client().decideApproval({ id: session_id, verdict: 'allow', scope: 'once' }),
  ).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('choose one of: one more round'),
  })
  await answer('accept as it is')
  expect(await m.ended(workflow_id)).toMatchObject({
    report: {
      outcome: 'force_approved',
      tasks: [{ state: 'partial', attempts: 2 }],
      rounds: [
        {
          verdict: 'changes_requested',
          said: 'approved',
          reasons: ['request is only partly done: no ending yet'],
        },
      ],
    },
  })
  const decided = (await m.events(session_id, 'decision.made')) as EventOf<'decision.made'>[]
  expect(
    decided
      .filter(({ payload }) => payload.subject !== 'model' && payload.subject !== 'tool')
      .map(({ payload }) => payload),
  ).toMatchObject([
    {
      choice: 'retry',
      reason: 'there is no architect, so the rules decided: it failed; it is tried once more',
    },
    { choice: 'human_review', reason: expect.stringContaining('1 of 1 rounds are used up') },
    { choice: 'force_approve', reason: expect.stringContaining('a person') },
  ])
})

test('[COL-62] a task that is given to another goes to one who has not tried it', async () => {
  const m = await played(
    [
      { when: 'Attempt 1 at the task it', steps: [said({ action: 'retry', reason: 'so near' })] },
      { when: 'Attempt 2 at the task it', steps: [said({ action: 'reassign', reason: 'other eyes' })] },
      {
        when: 'You are the architect',
        steps: [said({ summary: 'One.', tasks: [playedTask('it', ['it.txt'])] })],
      },
      {
        when: '"attempt_number": 2',
        steps: [write('it.txt', 'it\n'), done('There.')],
      },
      { when: '"task_id": "it"', steps: [said({ status: 'failed', summary: 'I cannot.' })] },
    ],
    {
      pairs: [
        'description: two who work',
        'members: [{ role: architect }, { role: developer, id: alpha }, { role: developer, id: beta }]',
      ].join('\n'),
    },
  )
  const { workflow_id, session_id } = await m.play('Do it.', { crew: 'pairs' })
  expect(await m.ended(workflow_id)).toMatchObject({
    report: { outcome: 'approved', tasks: [{ attempts: 3 }] },
  })
  const assigned = (await m.events(session_id, 'agent.task.assigned')) as EventOf<'agent.task.assigned'>[]
  expect(assigned.map(({ payload }) => payload.agentId)).toEqual(['alpha-1', 'alpha-1', 'beta-1-try3'])
})
