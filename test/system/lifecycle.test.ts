import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type SessionId, shortId } from '../../src/contract/ids.ts'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { standInClaude } from '../support/stand-in-claude.ts'
import { plant } from '../support/temp-engine.ts'

type World = Awaited<ReturnType<typeof standInClaude>>
type Named = { readonly id: string; readonly session_id: string }

const finished = {
  text: 'All done. All tests pass.',
  tools: [{ name: 'Read', input: { file_path: 'a.ts' } }],
}
const quick = { child_agents: { auto_complete: { idle_timeout: 1, idle_after: 1 } } }

const usual = shared(() => standInClaude(quick))
const patient = shared(() => standInClaude())

const of = async (c: Pick<World, 'events'>, type: string, { id }: { id: string }) =>
  (await c.events(type)).filter(({ sessionId }) => sessionId === id)

const told = (c: World, type: string, session: { id: string }, times = 1) =>
  eventually(
    () => of(c, type, session),
    (events) => events.length >= times,
  )

/** Every session that rested before has been looked at once more. */
async function aLookLater(c: World): Promise<void> {
  const other = await c.spawn({ mode: 'auto' })
  await c.turn(other, { text: 'Shall I go on?' })
  await told(c, 'agent.idle', other)
}

const endsOf = async (c: World, session: Named) => [
  ...(await of(c, 'session.completed', session)),
  ...(await of(c, 'session.failed', session)),
]

test('[SM-55][SM-65][SM-67][SM-68][SM-71][SM-76][SM-77] auto: from spawned to completed, by evidence that is recorded', async () => {
  const c = await usual()
  const parent = await c.spawn({ name: 'em' })
  const child = await c.spawn({ parent: parent.session_id, prompt: 'write it' })
  await c.turn(child, { ...finished, prompt: 'write it' })
  const [end] = await told(c, 'session.completed', child)
  expect(end?.payload).toMatchObject({
    outcome: 'completed',
    message: 'All done.',
    detected: {
      detector: 'phrase',
      confidence: 'high',
      score: expect.any(Number),
      evidence: expect.arrayContaining([
        { signal: 'claimed', detail: 'its last message says so' },
        { signal: 'worked', detail: 'it has used tools' },
      ]),
    },
  })
  const moves = (await of(c, 'session.state.changed', child)).map(
    ({ payload }) => payload as Record<string, string>,
  )
  expect(moves.map(({ from, to }) => [from, to].join(' '))).toEqual([
    'spawned starting',
    'starting running',
    'running idle',
  ])
  expect(moves.at(-1)).toMatchObject({ evidence: [{ signal: expect.any(String), confidence: 'high' }] })
  const [archived] = await told(c, 'session.archived', child)
  const { path = '' } = (archived?.payload ?? {}) as { path?: string }
  expect(dirname(path)).toBe(join(c.home, 'archives'))
  const [copy = ''] = readdirSync(path)
  expect(readFileSync(join(path, copy), 'utf8')).toContain('All done.')
  const { messages } = await c.client.listMessages({ id: parent.id })
  expect(messages.map(({ preview }) => preview).filter((text) => text.includes('completed'))).toEqual([
    expect.stringContaining(`(${child.session_id}) completed: All done.`),
  ])
  expect(await c.session(child)).toMatchObject({
    completion_status: 'completed',
    completion_message: 'All done.',
    completed_at: expect.any(String),
    is_alive: true,
  })
  expect(await endsOf(c, child)).toHaveLength(1)
})

test('[SM-70][SM-75] idle alone ends nothing, and neither does a phrase over a question or a failed turn', async () => {
  const c = await usual()
  const [idle, asks, fails] = [await c.spawn(), await c.spawn(), await c.spawn()]
  await c.turn(idle, { text: 'The weather is fine.' })
  await c.turn(asks, { ...finished, text: 'The model is complete. Shall I go on with the tests?' })
  await c.turn(fails, { ...finished, isOpen: true })
  await c.hook(fails, {
    hook_event_name: 'StopFailure',
    error: 'server_error',
    last_assistant_message: 'All done.',
  })
  for (const session of [idle, asks]) await told(c, 'agent.idle', session)
  await aLookLater(c)
  for (const session of [idle, asks, fails]) expect(await endsOf(c, session)).toEqual([])
  expect(await c.session(idle)).toMatchObject({ status: 'idle' })
})

test('[SM-78] manual: nothing is detected, told or cleaned up; it lasts until it is ended', async () => {
  const auto = { auto_complete: { idle_timeout: 1, idle_after: 1 }, cleanup: { auto_kill_on_complete: true } }
  const c = await standInClaude({ child_agents: { mode: 'manual', ...auto } })
  const session = await c.spawn()
  await c.turn(session, finished)
  await aLookLater(c)
  expect(await of(c, 'agent.idle', session)).toEqual([])
  expect(await endsOf(c, session)).toEqual([])
  await c.client.completeSession({ id: session.id, message: 'by its own word' })
  await aLookLater(c)
  expect(await c.session(session)).toMatchObject({ completion_message: 'by its own word', is_alive: true })
  expect((await c.client.killSession({ id: session.id })).left).toEqual([])
  expect(await endsOf(c, session)).toHaveLength(1)
})

test('[SM-79][SM-81] supervised: the parent is asked, nothing ends before the answer, and a no holds for this evidence', async () => {
  const c = await standInClaude({ child_agents: { ...quick.child_agents, mode: 'supervised' } })
  const parent = await c.spawn()
  const child = await c.spawn({ parent: parent.session_id })
  await c.turn(child, finished)
  const [asked] = await told(c, 'approval.requested', child)
  expect(asked?.payload).toMatchObject({
    subject: 'termination',
    askedOf: parent.id,
    reason: expect.stringContaining('its last message says so'),
    detected: { detector: 'phrase' },
  })
  await eventually(
    async () =>
      (await c.client.listMessages({ id: parent.id })).messages.map(({ preview }) => preview).join('\n'),
    (text) => text.includes(`appears complete. Approve termination? sm approve ${child.session_id}`),
  )
  await aLookLater(c)
  expect(await c.session(child)).toMatchObject({
    completion_status: null,
    is_alive: true,
    waiting_for: 'approval',
  })
  await expect(
    c.m.as(child.session_id).client.decideApproval({ id: child.session_id, verdict: 'allow' }),
  ).rejects.toMatchObject({ code: 'denied' })
  await c.m.as(parent.session_id).client.decideApproval({ id: child.session_id, verdict: 'deny' })
  await aLookLater(c)
  await c.m.restart('SIGKILL')
  await aLookLater(c)
  expect(await of(c, 'approval.requested', child)).toHaveLength(1)
  expect(await c.session(child)).toMatchObject({ completion_status: null, pending_approvals: 0 })
  // New work is new evidence.
  await c.turn(child, { ...finished, prompt: 'and the tests' })
  await told(c, 'approval.requested', child, 2)
})

test('[SM-80] sm approve ends it as it was proposed; a question that work has overtaken lapses', async () => {
  const c = await standInClaude({ child_agents: { ...quick.child_agents, mode: 'supervised' } })
  const child = await c.spawn()
  await c.turn(child, finished)
  await told(c, 'approval.requested', child)
  await c.turn(child, { prompt: 'one more thing', isOpen: true })
  const [lapsed] = await told(c, 'approval.expired', child)
  expect(lapsed?.payload).toMatchObject({ reason: 'it continued without an answer' })
  await c.turn(child, { ...finished, prompt: 'and another' })
  await told(c, 'approval.requested', child, 2)
  await c.client.decideApproval({ id: child.session_id, verdict: 'allow' })
  const [end, ...more] = await endsOf(c, child)
  expect(more).toEqual([])
  expect(end?.payload).toMatchObject({
    outcome: 'completed',
    message: 'All done.',
    detected: { detector: 'phrase' },
  })
  expect(c.processes().filter((pid) => pid > 0)).toEqual([])
})

test('[SM-66] a session that has ended is left only by reopening, and what was left running is still there after a restart', async () => {
  const c = await patient()
  const session = await c.spawn()
  await c.turn(session, { text: 'So far.' })
  await c.client.completeSession({ id: session.id, message: 'over' })
  await expect(c.client.completeSession({ id: session.id, message: 'again' })).rejects.toMatchObject({
    code: 'conflict',
  })
  await c.m.restart('SIGKILL')
  expect(await c.session(session)).toMatchObject({ status: 'completed' })
  expect(await c.client.sendMessage({ id: session.id, text: 'go on' })).toMatchObject({ state: 'queued' })
  expect(await of(c, 'session.reopened', session)).toHaveLength(1)
  expect(await c.session(session)).toMatchObject({ completion_status: null })
})

test('[MUS-23] each prompt is a run with one end, also the one that reopens a session', async () => {
  const c = await patient()
  const session = await c.spawn()
  await c.turn(session, { prompt: 'first', text: 'So far.' })
  await c.turn(session, { prompt: 'second', text: 'Further.' })
  await c.client.completeSession({ id: session.id, message: 'over' })
  await c.client.sendMessage({ id: session.id, text: 'go on' })
  await c.turn(session, { prompt: 'go on', text: 'Still here.' })
  const turns = await eventually(
    async () => (await c.client.listRuns({ id: session.id })).runs.filter(({ spanId }) => spanId !== null),
    (runs) => runs.length === 3 && runs.every(({ status }) => status !== 'running'),
  )
  expect(turns.map(({ task, status, detail }) => [task, status, detail])).toEqual([
    ['first', 'completed', 'So far.'],
    ['second', 'completed', 'Further.'],
    ['go on', 'completed', 'Still here.'],
  ])
  const ends = ['agent.completed', 'agent.failed', 'agent.cancelled', 'agent.abandoned']
  const ended = (await Promise.all(ends.map((type) => of(c, type, session)))).flat()
  expect(ended.map(({ runId }) => runId).sort()).toEqual(turns.map(({ runId }) => runId).sort())
  expect(await of(c, 'session.reopened', session)).toHaveLength(1)
})

test('[SM-119] a start that the end of Muster cut off is one failure with its reason, and nothing of it is left', async () => {
  const m = await sessionDaemon()
  // The server of the terminals is there from the first session on.
  const other = await m.spawnShell()
  const [id, traceId, spanId] = ['ses_01m7h1zg9a02xg000145n8f78h', 'a'.repeat(32), 'b'.repeat(16)]
  const at = { sessionId: id, runId: 'run_01m7h1zg9a02xg000145n8f78h', traceId, spanId, actor: 'operator' }
  const payload = { name: 'half', origin: 'managed', cli: 'custom', workingDir: m.home }
  const session_id = shortId(id as SessionId)
  const env = ['-e', `MUSTER_SESSION=${id}`, '-e', `MUSTER_HOME=${m.home}`]
  const name = `custom-${session_id}`
  spawnSync('tmux', ['-L', m.socket, 'new-session', '-d', '-s', name, ...env, 'sleep 1000'])
  const mark = m.tmux('display-message', '-p', '-t', `=${other.tmux_session}:`, '#{@muster}').trim()
  m.tmux('set-option', '-p', '-t', `=${name}:`, '@muster', `${mark.slice(0, -1)}x`)
  m.tmux('set-option', '-p', '-t', `=${name}:`, '@muster-owner', id)
  expect(m.processes()).toHaveLength(2)
  await m.restart('SIGKILL', () => plant(m.home, [{ ...at, type: 'session.started', payload }]))
  const { events } = await eventually(
    () => m.client.listEvents({ type: 'session.failed', limit: 10 }),
    (found) => found.events.length > 0,
  )
  expect(events.map(({ payload }) => payload)).toEqual([
    { reason: 'spawn failed', error: expect.stringContaining('stopped while it was being started') },
  ])
  await eventually(
    async () => m.tmux('list-sessions', '-F', '#{session_name}'),
    (names) => !names.includes(session_id),
  )
  expect(m.processes()).toHaveLength(1)
  expect(existsSync(join(m.home, 'sessions', session_id))).toBe(false)
})

test('[SM-119][SM-8] a start that fails says why, once, and leaves no terminal, process, folder or token', async () => {
  const m = await sessionDaemon()
  await m.spawnShell()
  await expect(m.spawnShell({ working_dir: '/nowhere', name: 'lost' })).rejects.toMatchObject({
    code: 'invalid',
  })
  const { events } = await eventually(
    () => m.client.listEvents({ type: 'session.failed', limit: 10 }),
    (found) => found.events.length > 0,
  )
  expect(events).toMatchObject([
    { payload: { reason: 'spawn failed', error: expect.stringContaining('/nowhere') } },
  ])
  const lost = await m.client.getSession({ id: 'shell-lost' })
  expect(lost).toMatchObject({ status: 'error', is_alive: false, spawned_at: expect.stringMatching(/Z$/) })
  expect(m.tmux('list-sessions', '-F', '#{session_name}')).not.toContain(lost.session_id)
  expect(existsSync(join(m.home, 'sessions', lost.session_id))).toBe(false)
  expect(m.processes()).toHaveLength(1)
})
