import { expect, test } from 'vitest'
import type { EventOf } from '../../src/contract/event.ts'
import { done, played, playedTask, said, write } from '../support/crew-play.ts'

const finding = (finding_id: string, severity: string) => ({
  finding_id,
  severity,
  category: 'security',
  file: 'note.txt',
  description: `${finding_id} is wrong`,
})
const verdict = (word: string, more: object = {}) =>
  said({ verdict: word, summary: `${word}.`, findings: [], ...more })

test('[COL-69][COL-64] risk-aware: the challenger changes the plan, and a rejection makes another; of several reviewers the strictest counts', async () => {
  const plan = (task: string) => said({ summary: `Plan: ${task}`, tasks: [playedTask(task, ['note.txt'])] })
  const m = await played(
    [
      { when: 'Plan: another', steps: [said({ verdict: 'go', summary: 'Fine.', objections: [] })] },
      { when: 'The reviewer rejected', steps: [plan('another')] },
      { when: 'Your plan was', steps: [plan('careful')] },
      {
        when: 'You are the challenger',
        steps: [
          said({
            verdict: 'stop',
            summary: 'It loses data.',
            objections: [{ priority: 'P0', description: 'no way back' }],
          }),
        ],
      },
      { when: 'You are the architect', steps: [plan('rash')] },
      { when: '"review_id": "review-1"', steps: [verdict('rejected')] },
      { when: '"review_id": "review-2"', steps: [verdict('approved')] },
      { when: '"review_id": "review-1-reviewer"', steps: [verdict('approved')] },
      {
        when: '"review_id": "review-1-security"',
        steps: [verdict('changes_requested', { findings: [finding('leak', 'critical')] })],
      },
      {
        when: '"review_id": "review-2-security"',
        steps: [verdict('approved', { addressed: ['r1-security-leak'] })],
      },
      {
        when: '"review_id": "review-2-reviewer"',
        steps: [verdict('approved', { addressed: ['r1-security-leak'] })],
      },
      { when: '"task_id": "request-rev1"', steps: [write('more.txt', 'more\n'), done('Mended.')] },
      { when: '"task_id": "another"', steps: [write('note.txt', 'another\n'), done('There.')] },
      { when: '"task_id": "careful"', steps: [write('note.txt', 'careful\n'), done('There.')] },
      { when: '"task_id": "request"', steps: [write('note.txt', 'note\n'), done('There.')] },
    ],
    {
      'two-eyes': [
        'description: two who look',
        'members: [{ role: developer }, { role: reviewer }, { role: security }]',
      ].join('\n'),
    },
  )
  const wary = await m.play('Change it.', { crew: 'risk-aware' })
  const looked = await m.play('Write a note.', { crew: 'two-eyes' })
  expect(await m.ended(wary.workflow_id)).toMatchObject({
    report: {
      outcome: 'approved',
      rounds: [{ verdict: 'rejected' }, { verdict: 'approved' }],
      tasks: [{ task_id: 'careful' }, { task_id: 'another' }],
      skipped: [],
    },
  })
  const messages = async (id: string) =>
    ((await m.events(id, 'agent.message.created')) as EventOf<'agent.message.created'>[]).map(
      ({ payload }) => payload,
    )
  const [shown, held] = (await messages(wary.session_id)).filter(
    ({ messageType }) => messageType === 'feedback',
  )
  expect(shown).toMatchObject({
    from: { agentId: 'architect' },
    to: { agentId: 'challenger' },
    payload: { subject: 'plan', content: expect.stringContaining('Plan: rash') },
  })
  expect(held).toMatchObject({
    from: { agentId: 'challenger' },
    to: { agentId: 'architect' },
    replyTo: shown?.messageId,
    payload: { subject: 'plan', action_required: true, content: expect.stringContaining('P0: no way back') },
  })
  expect(await m.ended(looked.workflow_id)).toMatchObject({
    report: {
      outcome: 'approved',
      rounds: [
        {
          verdict: 'changes_requested',
          findings: [{ finding_id: 'r1-security-leak' }],
          reviews: [
            { agent_id: 'reviewer', verdict: 'approved' },
            { agent_id: 'security', verdict: 'changes_requested' },
          ],
        },
        { verdict: 'approved' },
      ],
      tasks: [{ task_id: 'request' }, { task_id: 'request-rev1', state: 'completed' }],
      findings: { open: [], mended: [{ finding_id: 'r1-security-leak' }] },
    },
  })
  const kinds = (await messages(looked.session_id)).map(({ messageType }) => messageType)
  expect(kinds.filter((kind) => kind === 'review_result')).toHaveLength(4)

  // What one has used that has landed is what a third is estimated by, before anything of it is begun.
  await m.client().decideApproval({ id: wary.session_id, verdict: 'allow', scope: 'once' })
  await m.until(wary.workflow_id, ({ status }) => status === 'completed')
  const third = await m.play('Change it.', {
    crew: 'risk-aware',
    approve_plan: true,
    budget: { tokens: 900_000 },
  })
  const { approvals } = await m.until(third.workflow_id, (flow) => flow.approvals.length > 0)
  expect(approvals[0]?.action).toMatch(
    /Estimate: 2 to 6 agents .*about [\d,]+ to [\d,]+ tokens, by 1 earlier crews?\.\nIt is stopped at 900,000 tokens\.$/,
  )
})
