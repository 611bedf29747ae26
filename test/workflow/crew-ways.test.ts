import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { EventOf } from '../../src/contract/event.ts'
import { bash, done, played, said, write } from '../support/crew-play.ts'

const approvedAtOnce = {
  when: '"review_id": "review-1"',
  steps: [said({ verdict: 'approved', summary: 'Good.', findings: [] })],
}
const wroteNote = {
  when: '"task_id": "request"',
  steps: [write('note.txt', 'hello\n'), done('The note is there.')],
}

test('[COL-28] a pair: the request is the one task, and the reviewer decides', async () => {
  const m = await played([approvedAtOnce, wroteNote])
  const { workflow_id, branch } = await m.play('Write a note.', { crew: 'pair' })
  const flow = await m.ended(workflow_id)
  expect(flow).toMatchObject({
    status: 'running',
    phase: 'land',
    report: { outcome: 'approved', tasks: [{ task_id: 'request' }] },
  })
  expect(m.git('show', `${branch}:note.txt`)).toBe('hello\n')
})

test('[MUS-346] work that changes nothing is not called done, though its reviewer approves: in the list, the report and its session', async () => {
  const m = await played([
    approvedAtOnce,
    { when: '"task_id": "request"', steps: [done('The note is there.')] },
  ])
  const { workflow_id, session_id } = await m.play('Write a note.', { crew: 'pair' })
  const failed = { status: 'failed', detail: 'Nothing was changed. Good.' }
  expect(await m.ended(workflow_id)).toMatchObject({
    ...failed,
    approvals: [],
    report: { outcome: 'failed', summary: failed.detail },
  })
  const { workflows } = await m.client().listWorkflows({})
  expect(workflows).toMatchObject([{ workflow_id, ...failed }])
  await expect
    .poll(() => m.client().getSession({ id: session_id }))
    .toMatchObject({ status: 'error', completion_status: 'failed', completion_message: failed.detail })
})

test('[MUS-368] work that a person does not land is rejected: in the list, the page of its crew and its session, also after a restart', async () => {
  const m = await played([approvedAtOnce, wroteNote])
  const { workflow_id, session_id, branch } = await m.play('Write a note.', { crew: 'pair' })
  await m.until(workflow_id, ({ approvals }) => approvals.length > 0)
  await m.client().decideApproval({ id: session_id, verdict: 'deny', scope: 'once', reason: 'not now' })
  const rejected = { status: 'rejected', detail: 'its work was not landed: not now' }
  await m.until(workflow_id, ({ status }) => status === 'rejected')
  const looked = async () => ({
    flow: await m.client().getWorkflow({ id: workflow_id }),
    list: (await m.client().listWorkflows({})).workflows,
    session: await m.client().getSession({ id: session_id }),
    progress: await m.client().getProgress({ id: session_id }),
  })
  await expect.poll(async () => (await looked()).session.status).toBe('error')
  const expected = {
    flow: { ...rejected, report: { outcome: 'approved' } },
    list: [{ workflow_id, ...rejected, phase: 'land' }],
    session: { completion_status: 'rejected', completion_message: rejected.detail },
    progress: { status: 'rejected', is_complete: true },
  }
  expect(await looked()).toMatchObject(expected)
  await m.kill()
  expect(await looked()).toMatchObject(expected)
  expect(m.git('show', `${branch}:note.txt`)).toBe('hello\n')
})

test('[COL-42] the style guide of a crew is passed on to developers as it stood at the start; one that is not there is refused', async () => {
  const m = await played([approvedAtOnce, wroteNote], {
    styled: 'description: styled\nmembers: [{ role: developer }]\nstyle_guide: { file: docs/style.md }',
  })
  await expect(m.play('Write a note.', { crew: 'styled' })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(
      /docs\/style\.md is not a file in .*; create it, or change style_guide in /,
    ),
  })
  expect((await m.client().listWorkflows({})).workflows).toEqual([])
  mkdirSync(join(m.repo, 'docs'))
  writeFileSync(join(m.repo, 'docs/style.md'), 'Notes begin with "hello".\n')
  const { workflow_id, session_id } = await m.play('Write a note.', { crew: 'styled' })
  writeFileSync(join(m.repo, 'docs/style.md'), 'Something else.\n')
  await m.ended(workflow_id)
  const [assigned] = (await m.events(session_id, 'agent.task.assigned')) as EventOf<'agent.task.assigned'>[]
  expect(assigned?.payload.input).toMatchObject({
    constraints: {
      scope: ['**'],
      testing_required: true,
      style_guide: 'Notes begin with "hello".\n',
    },
  })
  const [, spawned] = await m.events(session_id, 'agent.spawned')
  expect(JSON.stringify(spawned?.payload)).toMatch(
    /Notes begin with[^]*Write as `constraints.style_guide` says/,
  )
})

test('[COL-18][COL-19][MUS-346] review-only: what is there is judged, also what nobody committed, and nothing is changed', async () => {
  const m = await played([
    {
      when: '"review_id": "review-1"',
      steps: [
        { tools: [{ name: 'Write', input: { file_path: 'greet.mjs', content: 'x' } }] },
        bash('rm greet.mjs'),
        { tools: [{ name: 'Read', input: { file_path: 'new.mjs' } }] },
        said({
          verdict: 'changes_requested',
          summary: 'new.mjs does nothing.',
          findings: [
            { finding_id: 'f', severity: 'major', category: 'logic', file: 'new.mjs', description: 'empty' },
          ],
        }),
      ],
    },
  ])
  writeFileSync(join(m.repo, 'new.mjs'), '// nothing yet\n')
  const { workflow_id, session_id } = await m.play('Look at this.', { crew: 'review-only' })
  const flow = await m.ended(workflow_id)
  expect(flow).toMatchObject({
    status: 'rejected',
    report: { outcome: 'unapproved', rounds: [{ verdict: 'changes_requested' }] },
  })
  const denied = await m.events(session_id, 'tool.call.denied')
  expect(denied.map(({ payload }) => (payload as { tool?: string }).tool)).toEqual(['Write', 'Bash'])
  expect(m.git('status', '--porcelain')).toBe('?? new.mjs\n')
  expect(flow.approvals).toEqual([])
})

test('[COL-71] a pipeline: what each member gives is what the next one is given', async () => {
  const m = await played([
    {
      when: 'You are the documenter in a pipeline',
      steps: [write('docs.md', 'say: ${lastToolResult}'), done('Documented: ok')],
    },
    {
      when: 'You are the developer in a pipeline',
      steps: [
        write('made.txt', 'made\n'),
        done('It is made, see made.txt', { implementation_notes: 'the key is 42' }),
      ],
    },
  ])
  mkdirSync(join(m.repo, '.muster/crews'), { recursive: true })
  writeFileSync(
    join(m.repo, '.muster/crews/row.yaml'),
    'description: one after the other\npattern: pipeline\nmembers: [{ role: developer }, { role: documenter }]\n',
  )
  const { workflow_id, session_id, branch } = await m.play('Make it.', { crew: 'row' })
  const flow = await m.ended(workflow_id)
  expect(flow).toMatchObject({
    status: 'running',
    phase: 'land',
    report: { outcome: 'approved', tasks: [{ task_id: 'developer' }, { task_id: 'documenter' }] },
  })
  const [, , second] = await m.events(session_id, 'agent.spawned')
  expect(JSON.stringify(second?.payload)).toContain('the key is 42')
  expect(m.git('ls-tree', '--name-only', branch)).toContain('made.txt')
  expect(m.git('ls-tree', '--name-only', branch)).toContain('docs.md')
})

test('[COL-71][COL-12] a pipeline of which a member did only a part is not approved, and its report says what is missing', async () => {
  const m = await played(
    [
      {
        when: 'You are the developer in a pipeline',
        steps: [
          write('made.txt', 'made\n'),
          said({ status: 'partial', summary: 'Begun.', blockers: ['no ending yet'] }),
        ],
      },
    ],
    { row: 'description: one\npattern: pipeline\nmembers: [{ role: developer }]\n' },
  )
  const { workflow_id } = await m.play('Make it.', { crew: 'row' })
  expect(await m.ended(workflow_id)).toMatchObject({
    status: 'rejected',
    approvals: [],
    report: {
      outcome: 'unapproved',
      summary: expect.stringContaining('developer is only partly done: no ending yet'),
      tasks: [{ task_id: 'developer', state: 'partial' }],
    },
  })
})

test('[COL-24] an architect that makes no plan is quoted, asked once more, and leaves nothing behind', async () => {
  const m = await played([
    { when: 'You are the architect', steps: [{ text: 'I would rather not.' }, { text: 'Still not.' }] },
  ])
  const { workflow_id } = await m.play('Do it.', { crew: 'balanced' })
  const flow = await m.ended(workflow_id)
  expect(flow).toMatchObject({ status: 'failed', detail: expect.stringContaining('it said: Still not.') })
  expect(m.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(m.git('branch', '--format=%(refname:short)')).toBe('main\n')
  await expect(m.client().getWorkflow({ id: 'nobody' })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('sm workflow list'),
  })
})
