import { expect, test } from 'vitest'
import { eventually } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { standInClaude } from '../support/stand-in-claude.ts'

type World = Awaited<ReturnType<typeof standInClaude>>

const usual = shared(() => standInClaude({ child_agents: { auto_complete: { enabled: false } } }))

const of = async (c: World, type: string, { id }: { id: string }) =>
  (await c.events(type)).filter(({ sessionId }) => sessionId === id).map(({ payload }) => payload)

const told = (c: World, type: string, session: { id: string }, times = 1) =>
  eventually(
    () => of(c, type, session),
    (events) => events.length >= times,
  )

const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } }

test('[MUS-239][SM-118] tokens of a subtree: a warning at 80 %, at 100 % all stop at the next boundary, a milestone, a question', async () => {
  const c = await usual()
  const parent = await c.spawn({ budget: { tokens: 1000 }, agent_type: 'general-purpose' })
  const child = await c.spawn({ parent: parent.session_id })
  await c.turn(parent, { text: 'Planned.', tokens: 300 })
  await c.turn(child, { text: 'Begun.', tokens: 550, isOpen: true })
  expect(await told(c, 'budget.warning', parent)).toEqual([
    { budget: 'tokens', used: 850, limit: 1000, scope: parent.name },
  ])
  expect(await c.session(parent)).toMatchObject({ tokens_used: 300, subtree_tokens: 850 })
  expect((await c.hook(child, { ...call, tool_use_id: 't1' })).body).toBe('{}')

  await c.turn(child, { prompt: 'more', tokens: 200, isOpen: true })
  expect(await told(c, 'budget.exceeded', parent)).toMatchObject([{ used: 1050, limit: 1000 }])
  expect(await of(c, 'budget.warning', parent)).toHaveLength(1)
  expect(await told(c, 'progress.checkpoint', parent)).toMatchObject([
    { message: 'Budget used up: 1050 of 1000 tokens' },
  ])
  expect(await told(c, 'approval.requested', parent)).toMatchObject([{ subject: 'budget' }])
  // The next boundary: another tool is refused, the turn is interrupted, nothing new begins below.
  expect((await c.hook(child, { ...call, tool_use_id: 't2' })).body).toContain('is used up')
  expect(await told(c, 'tool.call.denied', child)).toMatchObject([{ gate: 'budget', callId: 't2' }])
  const screen = async () => c.tmux('capture-pane', '-p', '-t', `=${child.tmux_session}:`)
  await eventually(screen, (text) => text.includes('^['))
  await expect(c.spawn({ parent: child.session_id })).rejects.toMatchObject({ code: 'limited' })
  expect(await told(c, 'limit.refused', child)).toMatchObject([{ limit: 'budget' }])
  await expect(
    c.m.as(parent.session_id).client.updateSession({ id: parent.id, budget: { tokens: 9000 } }),
  ).rejects.toMatchObject({ code: 'denied' })

  // No is no: it stays held, until somebody gives more.
  await c.client.decideApproval({ id: parent.session_id, verdict: 'deny' })
  await expect(c.spawn({ parent: child.session_id })).rejects.toMatchObject({ code: 'limited' })
  await c.client.updateSession({ id: parent.id, budget: { tokens: 5000 } })
  await c.spawn({ parent: child.session_id })
  expect((await c.hook(child, { ...call, tool_use_id: 't3' })).body).toBe('{}')
})

test('[MUS-239][SM-118] money counts as the CLI tells it; a yes gives as much again', async () => {
  const c = await usual()
  const parent = await c.spawn({ budget: { usd: 2 } })
  const child = await c.spawn({ parent: parent.session_id })
  await c.turn(parent, { text: 'Planned.', tokens: 10, costUsd: 0.5 })
  await c.turn(child, { text: 'Begun.', tokens: 10, costUsd: 0.75 })
  await c.turn(child, { text: 'Gone on.', tokens: 10, costUsd: 1.2 })
  expect(await told(c, 'budget.warning', parent)).toMatchObject([{ budget: 'usd', used: 1.7, limit: 2 }])
  await eventually(
    () => c.session(child),
    ({ cost_usd, tokens_used }) => cost_usd === 1.2 && tokens_used === 20,
  )
  expect(await c.session(parent)).toMatchObject({ cost_usd: 0.5, subtree_cost_usd: 1.7 })
  // After a restart the sum of before is known, and not counted again.
  await c.m.restart('SIGKILL')
  await eventually(
    () => c.client.getProgress({ id: child.id }),
    ({ current_activity }) => current_activity === 'Gone on.',
  )
  await c.hook(child, { model: { id: 'claude-opus-5-5' }, cost: { total_cost_usd: 1.2 } })
  await c.turn(child, { text: 'Gone too far.', tokens: 10, costUsd: 2 })
  expect(await told(c, 'budget.exceeded', parent)).toMatchObject([{ budget: 'usd', used: 2.5, limit: 2 }])
  await eventually(
    async () => c.client.listApprovals({}),
    ({ approvals }) => approvals.length === 1,
  )
  await c.client.decideApproval({ id: parent.session_id, verdict: 'allow' })
  expect(await c.session(parent)).toMatchObject({ budget: { usd: 4.5 }, pending_approvals: 0 })
  await c.spawn({ parent: child.session_id })
  expect(await of(c, 'budget.exceeded', parent)).toHaveLength(1)
})
