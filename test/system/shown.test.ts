import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { runProgram } from '../cli/run-sm.ts'
import { smProgram } from '../support/programs.ts'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { shared, whenOver } from '../support/shared.ts'
import { standInClaude } from '../support/stand-in-claude.ts'

const usual = shared(() => sessionDaemon())
type Managed = Awaited<ReturnType<typeof usual>>

const environmentOf = (m: Managed) => ({
  PATH: process.env['PATH'],
  HOME: m.home,
  MUSTER_HOME: m.home,
  TZ: 'UTC',
})

/** Runs `sm` as a person, from its source. */
const person = (m: Managed) => (args: readonly string[]) =>
  runProgram(process.execPath, [smProgram, ...args], { cwd: m.home, env: environmentOf(m), input: '' })

test('[MUS-340] outside a session, sm events and sm events --follow tell of the whole fleet, each by name and id', async () => {
  const m = await usual()
  const sm = person(m)
  const one = await m.spawnShell({ name: 'alpha' })
  const child = await m.spawnShell({ name: 'beta', parent: one.session_id })
  const grandchild = await m.spawnShell({ name: 'gamma', parent: child.session_id })
  const past = await sm(['events'])
  expect(past.code).toBe(0)
  for (const { session_id, friendly_name } of [one, child, grandchild])
    expect(past.stdout).toContain(`spawned: ${friendly_name} (${session_id}) started\n`)
  const following = spawn(process.execPath, [smProgram, 'events', '--follow', '--type', 'completed'], {
    cwd: m.home,
    env: environmentOf(m),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  whenOver(() => void following.kill())
  const lines: string[] = []
  createInterface({ input: following.stdout }).on('line', (line) => lines.push(line))
  // One that starts after it is followed too, and comes at the end.
  await m.client.completeSession({ id: grandchild.id, message: 'deep' })
  await m.client.completeSession({ id: one.id, message: 'top' })
  await eventually(
    async () => lines,
    ({ length }) => length >= 2,
  )
  const late = await m.spawnShell({ name: 'delta' })
  await m.client.completeSession({ id: late.id, message: 'late' })
  await eventually(
    async () => lines,
    ({ length }) => length >= 3,
  )
  expect(lines.map((line) => line.replace(/^\[\d\d:\d\d\] /, ''))).toEqual([
    `completed: shell-gamma (${grandchild.session_id}) completed - "deep"`,
    `completed: shell-alpha (${one.session_id}) completed - "top"`,
    `completed: shell-delta (${late.session_id}) completed - "late"`,
  ])
  // A session sees no more than itself and what is below it.
  const { events } = await m.as(child.session_id).client.listFleetEvents({})
  expect(new Set(events.map(({ session_id }) => session_id))).toEqual(
    new Set([child.session_id, grandchild.session_id]),
  )
})

test('[MUS-341] the name that was given names the session on every command, and several that fit are listed', async () => {
  const m = await usual()
  const sm = person(m)
  const { session_id, friendly_name } = await m.spawnShell({ name: 'task1042' })
  expect(friendly_name).toBe('shell-task1042')
  const task = 'task1042'
  for (const line of [
    ['children', task],
    ['progress', task],
    ['checkpoint', 'reached', '--session', task],
    ['checkpoints', task],
    ['events', task],
    ['tail', task],
    ['output', task],
    ['blackboard', task],
    ['what', task],
    ['explain', task],
    ['messages', task],
    ['approvals', task],
    ['attach', task, '--print'],
    ['budget', task, '1m'],
    ['task', 'more', '--session', task],
    ['lock', 'mine', '--session', task],
    ['unlock', '--session', task],
    ['send', task, ': hello'],
    ['spawn', 'shell', '', '--parent', task, '--name', 'below'],
    ['search', 'reached', '--session', task],
    ['journal', 'tail', '--session', task],
    ['journal', 'export', '--session', task],
    ['log', 'export', task],
    ['complete', 'done', '--session', task],
    ['wait', task, '--timeout', '60'],
  ]) {
    const { code, stderr } = await sm(line)
    expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' })
  }
  const below = await m.client.getSession({ id: 'below' })
  expect(below.parent_session_id).toBe(session_id)
  const twin = await m.spawnShell({ name: 'reviewer-task1042' })
  const refused = await sm(['progress', task])
  expect(refused.code).toBe(4)
  expect(refused.stderr).toContain(`${session_id} (shell-task1042, completed)`)
  expect(refused.stderr).toContain(`${twin.session_id} (shell-reviewer-task1042, `)
  expect((await sm(['kill', task, '--force'])).code).toBe(4)
  expect((await m.client.getSession({ id: twin.id })).completion_status).toBeNull()
})

test('[MUS-343] a session that rests is as old as its rest: a start of the daemon, a name and a message that waits are no activity of it', async () => {
  const m = await standInClaude({ child_agents: { mode: 'manual' } })
  const one = await m.spawn()
  await m.turn(one, { prompt: 'do it', text: 'The notes are in notes.md.' })
  const { last_activity_at } = await eventually(
    () => m.session(one),
    ({ status }) => status === 'idle',
  )
  // What its record says of the end is believed once nothing followed it for some seconds.
  await eventually(
    async () => Date.now(),
    (now) => now > Date.parse(last_activity_at) + 4000,
  )
  await m.restart('SIGKILL')
  await m.client.updateSession({ id: one.id, name: 'rested', task: 'rest' })
  // Its record was read again, and it is found as it was.
  await eventually(
    () => m.client.explainSession({ id: one.id }),
    ({ status, signals }) => status === 'idle' && signals.length > 0,
  )
  expect(await m.session(one)).toMatchObject({ status: 'idle', last_activity_at })
})

test('[MUS-343] what ended while no daemon was there to see it ended when it did, not when it was found', async () => {
  const m = await standInClaude()
  const one = await m.spawn()
  await m.turn(one, { prompt: 'do it', text: 'Working on it.', isOpen: true })
  await eventually(
    () => m.session(one),
    ({ status }) => status === 'running',
  )
  const before = Date.now()
  await m.restart('SIGKILL', async () => {
    const ended = { ...m.line({ id: 'msg_last', tokens: 1, content: [{ type: 'text', text: 'Over.' }] }) }
    await m.write(one, { ...ended, timestamp: new Date(before).toISOString() })
  })
  const { last_activity_at } = await eventually(
    () => m.session(one),
    ({ status }) => status === 'idle',
  )
  expect(Math.abs(Date.parse(last_activity_at) - before)).toBeLessThan(50)
})

test('[MUS-343] a record that does not tell how its turn ended moves nothing when a later daemon reads it again', async () => {
  const m = await standInClaude({ child_agents: { mode: 'manual' } })
  const one = await m.spawn()
  // Its hook tells the end; in its record the turn is open for ever.
  await m.turn(one, { prompt: 'do it', text: 'The notes are in notes.md.', isOpen: true })
  await m.hook(one, { hook_event_name: 'Stop', last_assistant_message: 'Done.', background_tasks: [] })
  const { last_activity_at } = await eventually(
    () => m.session(one),
    ({ status }) => status === 'idle',
  )
  await m.restart('SIGKILL')
  const explained = await eventually(
    () => m.client.explainSession({ id: one.id }),
    ({ signals }) => signals.some(({ signal, source }) => signal === 'text' && source === 'transcript'),
  )
  expect(explained.status).toBe('idle')
  expect(await m.session(one)).toMatchObject({ status: 'idle', last_activity_at })
  const moves = (await m.events('session.state.changed')).map(({ payload }) => payload as { to: string })
  expect(moves.filter(({ to }) => to === 'running')).toHaveLength(1)
})

test('[MUS-312] while its prompt is not taken a session is starting wherever it is shown, in what explains it too', async () => {
  const m = await standInClaude({ child_agents: { mode: 'manual' } })
  const one = await m.spawn()
  await m.hook(one, { hook_event_name: 'SessionStart', source: 'startup' })
  // By then the evidence alone would call it idle.
  const explained = await eventually(
    () => m.client.explainSession({ id: one.id }),
    ({ signals }) => signals.some(({ signal, age_ms }) => signal === 'ready' && age_ms > 3500),
  )
  expect([explained.status, (await m.session(one)).status]).toEqual(['starting', 'starting'])
})

test('[MUS-312] what is seen at work before its prompt is taken does not make a session idle when it ends', async () => {
  const m = await standInClaude({ child_agents: { mode: 'manual' } })
  const one = await m.spawn()
  const call = { tool_name: 'Read', tool_input: {}, tool_use_id: 'toolu_early' }
  await m.hook(one, { hook_event_name: 'SessionStart', source: 'startup' })
  await m.hook(one, { hook_event_name: 'PreToolUse', ...call })
  await eventually(
    () => m.session(one),
    ({ status }) => status === 'running',
  )
  await m.hook(one, { hook_event_name: 'PostToolUse', ...call, tool_response: {} })
  await m.hook(one, { hook_event_name: 'Stop', background_tasks: [] })
  const explained = await eventually(
    () => m.client.explainSession({ id: one.id }),
    ({ signals }) => signals.some(({ signal, counted }) => signal === 'turn-end' && counted),
  )
  expect([explained.status, (await m.session(one)).status]).toEqual(['running', 'running'])
  await m.turn(one, { prompt: 'do it', text: 'Done.' })
  await eventually(
    () => m.session(one),
    ({ status }) => status === 'idle',
  )
})
