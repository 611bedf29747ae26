import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { EventOf, EventType } from '../../src/contract/event.ts'
import { validateSession } from '../../src/session-file/validate.ts'
import { expectSameAgents, viewsOf } from '../support/agents-everywhere.ts'
import type { Part } from '../support/crew-model.ts'
import { bash, done, played, said, write } from '../support/crew-play.ts'

const peers = (more = '') => `description: two equals
pattern: peer_to_peer
members: [{ id: ann, role: coder }, { id: bob, role: engineer }]
limits: { max_iterations: 2 }
${more}`
const voters = (more = '') => `description: a vote
pattern: consensus
members: [{ role: reviewer }, { role: security }, { role: optimizer }, { role: tester }]
${more}`

/** What a member does in a round, and what it says at the end of its turn. */
const turn = (who: string, round: number, value: object, ...steps: readonly object[]): Part => ({
  when: `You are ${who}, in round ${round} `,
  steps: [...steps, said({ summary: `${who} in ${round}`, ...value })],
})
const ann = 'ann (coder)'
const bob = 'bob (engineer)'
const vote = (who: string, choice: unknown, number = 1, more: object = {}): Part => ({
  when: `You are ${who} (${who}), in vote ${number} `,
  steps: [said({ vote: choice, reason: `${who} thinks so`, ...more })],
})
const board = (version: number, content: string) => ({ board: { version, content } })

type Played = Awaited<ReturnType<typeof played>>
const of = async <T extends EventType>(m: Played, session: string, type: T) =>
  (await m.events(session, type)) as EventOf<T>[]

/** What they have said to each other; the last words of a run are told beside. */
const messagesIn = async (m: Played, session: string) =>
  (await of(m, session, 'agent.message.created')).filter(({ payload }) => payload.messageType !== undefined)

const isValid = async (m: Played, id: string) => {
  const { document, filename } = await m.client().exportLog({ id })
  expect(validateSession(document, { filename })).toEqual({ valid: true, errors: [], warnings: [] })
  return document as { collaboration: { pattern: string; original_pattern?: string } }
}

test('[COL-70][LOG-18][RUN-13] peers take turns in one place, message each other, share a board with versions, and end when both agree with the same one', async () => {
  const m = await played(
    [
      turn(
        ann,
        1,
        { agrees: true, ...board(0, 'note.txt greets'), messages: [{ to: 'bob', content: 'is it polite?' }] },
        write('note.txt', 'hello\n'),
      ),
      turn(
        bob,
        1,
        { agrees: true, messages: [{ to: 'all', content: 'now it is' }] },
        { tools: [{ name: 'Read', input: { file_path: 'note.txt' } }] },
        {
          tools: [
            { name: 'Edit', input: { file_path: 'note.txt', old_string: 'hello', new_string: 'good day' } },
          ],
        },
      ),
      turn(ann, 2, { agrees: true }),
    ],
    { equals: peers() },
  )
  const { workflow_id, session_id, branch } = await m.play('Write a note.', { crew: 'equals' })
  const flow = await m.ended(workflow_id)
  expect(flow).toMatchObject({
    status: 'running',
    phase: 'land',
    report: {
      outcome: 'approved',
      summary: 'Agreed in round 2: ann and bob agree with version 2',
      agreement: { agreed: true, version: 2, rounds: 2, board: 'note.txt greets' },
      tasks: [
        { task_id: 'round-1-ann', files: [{ path: 'note.txt', change_type: 'created' }] },
        { task_id: 'round-1-bob', files: [{ path: 'note.txt', change_type: 'modified' }] },
        { task_id: 'round-2-ann', files: [] },
      ],
    },
  })
  expect(m.git('show', `${branch}:note.txt`)).toBe('good day\n')
  const messages = await messagesIn(m, session_id)
  expect(
    messages.map(({ payload: p }) => [p.sequenceNumber, p.from.agentId, p.to.agentId, p.payload]),
  ).toMatchObject([
    [1, 'ann', 'bob', { content: 'is it polite?' }],
    [2, 'bob', 'ann', { content: 'now it is' }],
  ])
  const items = [
    ...(await of(m, session_id, 'blackboard.item.created')),
    ...(await of(m, session_id, 'blackboard.item.updated')),
  ]
  expect(items.map(({ payload }) => [payload.sourceAgent, payload.version])).toEqual([
    ['ann', 1],
    ['bob', 2],
  ])
  expect(m.asked().findLast((body) => body.includes('You are ann (coder), in round 2'))).toMatch(
    /at version 2, made by bob[^]*bob:[^]*now it is/,
  )
  const members = (await of(m, session_id, 'agent.spawned')).filter(
    ({ parentRunId }) => parentRunId !== undefined,
  )
  expect(members.map(({ payload }) => [payload.agentId, payload.kind])).toEqual([
    ['ann', 'main'],
    ['bob', 'main'],
    ['ann', 'main'],
  ])
  const session = await m.client().getSession({ id: session_id })
  const { delegated } = await expectSameAgents(viewsOf(m.client()), session)
  expect(delegated).toHaveLength(3)
  expect((await isValid(m, session_id)).collaboration).toMatchObject({ pattern: 'peer_to_peer' })
})

test('[COL-70][COL-66] at the limit of the rounds nobody is said to agree: a person is asked, and without one the work is not approved', async () => {
  const parts = [
    turn(ann, 1, { agrees: true, ...board(0, 'tabs') }, write('note.txt', 'x\n')),
    turn(bob, 1, { agrees: true, ...board(1, 'spaces') }),
    turn(ann, 2, { agrees: true, ...board(2, 'tabs') }),
    turn(bob, 2, { agrees: false, messages: [{ to: 'ann', content: 'no' }] }),
  ]
  const m = await played(parts, { equals: peers(), ends: peers('on_max_iterations: abort') })
  const summary = 'No agreement: 2 of 2 rounds are used up, and ann agrees with version 3, bob does not'
  const ended = await m.play('Tabs or spaces?', { crew: 'ends' })
  const flow = await m.ended(ended.workflow_id)
  expect(flow).toMatchObject({
    status: 'rejected',
    detail: summary,
    approvals: [],
    report: {
      outcome: 'unapproved',
      agreement: {
        agreed: false,
        members: [
          { agent_id: 'ann', version: 3 },
          { agent_id: 'bob', version: null },
        ],
      },
    },
  })
  expect(flow.report_text).toContain('## Not agreed on version 3')
  const asked = await m.play('Tabs or spaces?', { crew: 'equals' })
  const { approvals } = await m.until(asked.workflow_id, (one) => one.approvals.length > 0)
  expect(approvals).toMatchObject([
    { action: summary, options: ['one more round', 'accept as it is', 'stop'] },
  ])
  await m.client().decideApproval({ id: asked.session_id, verdict: 'deny', scope: 'once' })
  expect(await m.ended(asked.workflow_id)).toMatchObject({ status: 'rejected', detail: summary })
})

test('[COL-70][COL-46] what peers agree on is checked, and a check that fails is no approval', async () => {
  const m = await played(
    [
      turn(ann, 1, { agrees: true }, write('more.test.mjs', 'throw new Error("no")\n')),
      turn(bob, 1, { agrees: true }),
    ],
    { equals: peers('checks: { test: node --test }') },
  )
  const { workflow_id } = await m.play('Test it.', { crew: 'equals' })
  expect(await m.ended(workflow_id)).toMatchObject({
    status: 'rejected',
    report: { outcome: 'unapproved', agreement: { agreed: true }, checks: [{ passed: false }] },
  })
})

test('[COL-70][COL-6][COL-11] a hostile peer writes over words that it has not seen, to people who are not there, without end, and outside of its place: nothing of that counts', async () => {
  const flood = Array.from({ length: 50 }, (_, i) => ({ to: 'ann', content: `${i}` }))
  const m = await played(
    [
      turn(ann, 1, { agrees: true, ...board(0, 'the plan') }),
      {
        when: `You are ${bob}, in round 1 `,
        steps: [
          write('../outside.txt', 'x'),
          { tools: [{ name: 'SendMessage', input: { to: 'coder', message: 'psst' } }] },
          said({ summary: 's', agrees: true, messages: flood }),
          said({ summary: 's', agrees: true, messages: [{ to: 'operator', content: 'approve me' }] }),
        ],
      },
      turn(ann, 2, { agrees: true }),
      turn(bob, 2, { agrees: true, ...board(0, 'my plan') }),
    ],
    { equals: peers('on_max_iterations: abort') },
  )
  const { workflow_id, session_id } = await m.play('Plan it.', { crew: 'equals' })
  expect(await m.ended(workflow_id)).toMatchObject({
    status: 'rejected',
    report: {
      outcome: 'unapproved',
      agreement: { version: 1, board: 'the plan', members: [{ version: 1 }, { version: null }] },
      tasks: [
        { state: 'completed' },
        { task_id: 'round-1-bob', state: 'failed' },
        {},
        { state: 'completed' },
      ],
    },
  })
  expect(await messagesIn(m, session_id)).toEqual([])
  const denied = await of(m, session_id, 'tool.call.denied')
  expect(denied.map(({ payload }) => [payload.tool, payload.gate])).toEqual([
    ['Write', 'scope'],
    ['SendMessage', 'delegation'],
  ])
  const conflicts = (await of(m, session_id, 'blackboard.item.updated')).map(({ payload }) => payload)
  expect(conflicts).toMatchObject([{ conflict: true, sourceAgent: 'bob', version: 1 }])
  await isValid(m, session_id)
})

test('[COL-72][LOG-18] voters side by side decide a question: votes, reasons and outcome are one decision, silence abstains', async () => {
  const m = await played(
    [
      vote('reviewer', 'SQLite'),
      vote('security', 'sqlite'),
      vote('optimizer', 'Postgres'),
      // It votes twice, then for another.
      {
        when: 'You are tester (tester), in vote 1 ',
        steps: [
          said({ vote: ['SQLite', 'Postgres'], reason: 'both' }),
          said({ voter: 'reviewer', vote: 'Postgres', reason: 'x' }),
        ],
      },
    ],
    { four: voters() },
  )
  const { workflow_id, session_id } = await m.play('Which store?', {
    crew: 'four',
    choices: ['SQLite', 'Postgres'],
  })
  const flow = await m.ended(workflow_id)
  expect(flow).toMatchObject({
    status: 'completed',
    approvals: [],
    report: {
      outcome: 'approved',
      summary: 'SQLite: 2 of 3 votes, 1 abstained',
      files: [],
      ballots: [{ result: 'decided', choice: 'SQLite', quorum: 3 }],
    },
  })
  expect(flow.report_text).toMatch(
    /## Votes\n\n1\. SQLite: 2 of 3 votes[^]*- security: SQLite: security thinks so/,
  )
  const [decision, ...others] = (await of(m, session_id, 'decision.made')).filter(
    ({ payload }) => payload.subject === 'approach',
  )
  expect(others).toEqual([])
  expect(decision?.payload).toMatchObject({
    choice: 'SQLite',
    candidates: [
      {
        choice: 'SQLite',
        votes: [{ voter: 'reviewer', reason: 'reviewer thinks so' }, { voter: 'security' }],
      },
      { choice: 'Postgres', votes: [{ voter: 'optimizer' }] },
      {
        choice: 'abstain',
        votes: [{ voter: 'tester', reason: expect.stringContaining('you vote for tester') }],
      },
    ],
  })
  // Nobody is shown what another one has said.
  for (const body of m.asked()) expect(body).not.toMatch(/thinks so/)
  expect(m.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect((await isValid(m, session_id)).collaboration).toMatchObject({
    pattern: 'peer_to_peer',
    original_pattern: 'consensus',
  })
})

test('[COL-72] too few votes decide nothing, and it is not called completed', async () => {
  const m = await played(
    [
      vote('reviewer', 'yes'),
      vote('security', 'abstain'),
      vote('optimizer', 'abstain'),
      vote('tester', 'yes'),
    ],
    { four: voters() },
  )
  const { workflow_id, session_id } = await m.play('Shall we?', { crew: 'four' })
  expect(await m.ended(workflow_id)).toMatchObject({
    status: 'failed',
    detail: 'no decision: 2 of 4 voted, and 3 have to',
    report: { outcome: 'aborted', ballots: [{ result: 'no_quorum', choice: null }] },
  })
  const decisions = await of(m, session_id, 'decision.made')
  expect(decisions.map(({ payload }) => payload.choice)).toContain('no_decision')
})

test('[COL-72][COL-66] a tie is voted on once more with the reasons, then a person chooses one of the tied or none', async () => {
  const tied = (number: number) => [
    vote('reviewer', 'yes', number),
    vote('security', 'no', number),
    vote('optimizer', 'yes', number),
    vote('tester', 'no', number),
  ]
  const m = await played([...tied(1), ...tied(2)], { four: voters() })
  const begun = await m.play('Shall we?', { crew: 'four' })
  const { approvals } = await m.until(begun.workflow_id, (one) => one.approvals.length > 0)
  expect(approvals).toMatchObject([{ action: 'The vote is tied. Choose: yes or no', options: ['yes', 'no'] }])
  expect(m.asked().findLast((body) => body.includes('in vote 2'))).toContain('- no: security thinks so')
  await m
    .client()
    .decideApproval({ id: begun.session_id, verdict: 'allow', scope: 'once', answers: { choice: 'no' } })
  expect(await m.ended(begun.workflow_id)).toMatchObject({
    status: 'completed',
    report: {
      outcome: 'force_approved',
      summary: 'no: 2 votes were tied between yes and no, and a person chose',
      ballots: [{ result: 'tie' }, { result: 'tie' }],
    },
  })
  const other = await m.play('Shall we?', { crew: 'four' })
  await m.until(other.workflow_id, (one) => one.approvals.length > 0)
  await m.client().decideApproval({ id: other.session_id, verdict: 'deny', scope: 'once' })
  expect(await m.ended(other.workflow_id)).toMatchObject({
    status: 'rejected',
    detail: 'no decision: 2 votes were tied between yes and no, and a person did not choose',
  })
})

test('[COL-72][COL-19] a change is voted down: each voter sees it in a place of its own, and changes nothing', async () => {
  const m = await played(
    [
      {
        when: 'You are reviewer (reviewer), in vote 1 ',
        steps: [
          { tools: [{ name: 'Read', input: { file_path: 'new.mjs' } }] },
          write('left.txt', 'for the others'),
          bash('ls'),
          said({ vote: 'reject', reason: 'it does nothing' }),
        ],
      },
      vote('security', 'reject'),
      vote('optimizer', 'approve'),
      vote('tester', 'reject'),
    ],
    { four: voters('vote: { on: diff }') },
  )
  writeFileSync(join(m.repo, 'new.mjs'), '// nothing yet\n')
  const { workflow_id, session_id } = await m.play('Add new.mjs.', { crew: 'four' })
  expect(await m.ended(workflow_id)).toMatchObject({
    status: 'rejected',
    detail: 'reject: 3 of 4 votes',
    report: { outcome: 'unapproved' },
  })
  expect(m.asked().find((body) => body.includes('You are security'))).toContain('+// nothing yet')
  const denied = await of(m, session_id, 'tool.call.denied')
  expect(denied.map(({ payload }) => payload.tool)).toEqual(['Write', 'Bash'])
  expect(m.git('status', '--porcelain')).toBe('?? new.mjs\n')
})

test('[COL-70][COL-71][COL-72][COL-69] the crew that a pattern names runs to its end, and a crew of another pattern is refused', async () => {
  const m = await played([
    turn('first (coder)', 1, { agrees: true }, write('note.txt', 'hello\n')),
    turn('second (engineer)', 1, { agrees: true }),
    vote('reviewer', 'yes'),
    vote('security', 'yes'),
    vote('optimizer', 'no'),
    { when: 'You are the developer in a pipeline', steps: [write('made.txt', 'made\n'), done('Made.')] },
    {
      when: 'You are the tester in a pipeline',
      steps: [write('test/made.test.mjs', '// it is\n'), done('Tested.')],
    },
    {
      when: 'You are the documenter in a pipeline',
      steps: [write('docs/made.md', 'Made.\n'), done('Written.')],
    },
  ])
  const play = (pattern: string) => m.play('Do it.', { crew: undefined, pattern })
  const [together, voted, row] = [await play('peer_to_peer'), await play('consensus'), await play('pipeline')]
  const outcome = async ({ workflow_id }: { workflow_id: string }) => {
    const { report } = await m.until(workflow_id, (flow) => flow.report !== null || flow.status === 'failed')
    return [report?.crew, report?.outcome, report?.files.map(({ path }) => path)]
  }
  expect(await outcome(together)).toEqual(['peers', 'approved', ['note.txt']])
  expect(await outcome(voted)).toEqual(['council', 'approved', []])
  expect(await outcome(row)).toEqual([
    'relay',
    'approved',
    ['docs/made.md', 'made.txt', 'test/made.test.mjs'],
  ])
  await expect(m.play('Do it.', { crew: 'balanced', pattern: 'consensus' })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('the crew balanced works as master_worker'),
  })
  await expect(m.play('Do it.', { crew: 'peers', choices: ['a', 'b'] })).rejects.toMatchObject({
    message: expect.stringContaining('does not vote on a question'),
  })
  expect(execFileSync('git', ['-C', m.repo, 'status', '--porcelain'], { encoding: 'utf8' })).toBe('')
})
