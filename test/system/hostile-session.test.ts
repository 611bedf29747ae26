import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { standInClaude } from '../support/stand-in-claude.ts'

const usual = shared(() => standInClaude())
type World = Awaited<ReturnType<typeof usual>>
type Session = Awaited<ReturnType<World['spawn']>>

const denied = { code: 'denied' }

/** What a session is shown of its own conversation, in every way that there is. */
async function shownTo(m: World, session: Session): Promise<string> {
  const { client } = m.as(session.session_id)
  await m.turn(session, { prompt: 'one more', text: 'said' })
  const { id } = session
  const { entries, path } = await client.getTranscript({ id, limit: 1000 })
  const { events } = await client.listEvents({ session: id, limit: 1000 })
  const { hits } = await client.search({ q: 'secret*', limit: 200 })
  return JSON.stringify({ entries, path, events: events.map(({ payload }) => payload), hits })
}

const line = (text: string) =>
  `${JSON.stringify({
    type: 'user',
    timestamp: new Date().toISOString(),
    isSidechain: false,
    message: { role: 'user', content: text },
  })}\n`

test('[MUS-307] a session that names another file as its record reads nothing by it: not of another, not by a link, a pipe or an id', async () => {
  const m = await usual()
  const [own, victim] = [await m.spawn(), await m.spawn()]
  await m.turn(victim, { prompt: 'secret-of-victim', text: 'secret-answer' })
  const record = await m.recordOf(victim)
  const elsewhere = join(m.home, 'private.jsonl')
  writeFileSync(elsewhere, line('secret-elsewhere'))
  const start = { hook_event_name: 'SessionStart', source: 'resume' }
  const named = (path: string, id: string) => m.hook(own, { ...start, transcript_path: path, session_id: id })
  const id = await m.conversationOf(victim)
  for (const [path, foreign] of [
    [record, 'x'],
    [record, id],
    [elsewhere, 'x'],
    [elsewhere, id],
    [join(m.home, 'operator.token'), 'x'],
    [join(dirname(record), '..', '..', '..', 'private.jsonl'), '../../../private'],
    [record, '../../../private'],
  ] as const) {
    await named(path, foreign)
    const { entries, path: shown } = await m.as(own.session_id).client.getTranscript({ id: own.id })
    expect(entries, `${path} ${foreign}`).toEqual([])
    expect([null, await m.recordOf(own)]).toContain(shown)
  }
  expect(await shownTo(m, own)).not.toMatch(/secret-(?!\*)|private|mop_/)
  // Its own file, in its place.
  const mine = await m.recordOf(own)
  rmSync(mine)
  symlinkSync(record, mine)
  expect((await m.as(own.session_id).client.getTranscript({ id: own.id })).entries).toEqual([])
  rmSync(mine)
  execFileSync('mkfifo', [mine])
  expect((await m.as(own.session_id).client.getTranscript({ id: own.id })).entries).toEqual([])
  rmSync(mine)
  // What the other wrote was not taken away from it.
  await m.turn(victim, { prompt: 'and then', text: 'more' })
  const { events } = await m.client.listEvents({ session: victim.id, type: 'agent.spawned' })
  expect(events.map(({ payload }) => (payload as { agentTask?: string }).agentTask)).toEqual([
    'secret-of-victim',
    'and then',
  ])
})

test('[MUS-307] what a session says its conversation is never becomes an argument of a program', async () => {
  const m = await usual()
  const own = await m.spawn()
  const start = { hook_event_name: 'SessionStart', source: 'resume' }
  for (const id of ['--dangerously-skip-permissions', '-x', 'a b', '../x', 'x'.repeat(300)])
    await m.hook(own, { ...start, session_id: id })
  const gone = await m.spawn()
  const theirs = await m.conversationOf(gone)
  await m.client.killSession({ id: gone.id, force: true })
  await m.hook(own, { ...start, session_id: theirs })
  const { events } = await m.client.listEvents({ session: own.id, type: 'session.updated' })
  expect(JSON.stringify(events)).not.toMatch(/dangerously|"-x"|a b|\.\.\/x|xxx/)
  expect(JSON.stringify(events)).not.toContain(theirs)
})

test('[MUS-307] a session that really changes its conversation is followed there', async () => {
  const m = await usual()
  const own = await m.spawn()
  await m.turn(own, { prompt: 'before', text: 'said' })
  const id = randomUUID()
  const path = join(dirname(await m.recordOf(own)), `${id}.jsonl`)
  const at = { session_id: id, transcript_path: path }
  await m.hook(own, { ...at, hook_event_name: 'SessionStart', source: 'clear' })
  writeFileSync(path, line('after'))
  await m.hook(own, { ...at, hook_event_name: 'Stop', background_tasks: [] })
  const { events } = await eventually(
    () => m.client.listEvents({ session: own.id, type: 'agent.spawned' }),
    (found) => found.events.length === 2,
  )
  expect(events.map(({ payload }) => (payload as { agentTask?: string }).agentTask)).toEqual([
    'before',
    'after',
  ])
})

test('[MUS-308] a session leaves its tree by no route: it moves neither itself nor one below it out of it', async () => {
  const m = await usual()
  const parent = await m.spawnShell({ budget: { tokens: 1000 } })
  const own = await m.spawnShell({ parent: parent.session_id })
  const child = await m.spawnShell({ parent: own.session_id })
  const { client } = m.as(own.session_id)
  await expect(client.adoptSession({ id: own.id })).rejects.toMatchObject(denied)
  await expect(client.adoptSession({ id: own.id, parent: child.id })).rejects.toMatchObject(denied)
  await expect(client.adoptSession({ id: child.id, parent: parent.id })).rejects.toMatchObject(denied)
  // Who names no parent gets it as its own child, and not as a root without limits.
  expect(await client.adoptSession({ id: child.id })).toMatchObject({ parent_session_id: own.session_id })
  expect(await m.client.getSession({ id: own.id })).toMatchObject({ parent_session_id: parent.session_id })
})

test('[MUS-308] a session starts none that asks people less than itself', async () => {
  const m = await usual()
  const own = await m.spawn()
  const { client } = m.as(own.session_id)
  const spawn = (more: object) =>
    client.spawnSession({ agent_type: 'claude', prompt: '', working_dir: m.work, dry_run: true, ...more })
  for (const more of [
    { permission_mode: 'bypass' },
    { permission_mode: 'acceptEdits' },
    { args: ['--dangerously-skip-permissions'] },
    { args: ['--permission-mode=bypassPermissions'] },
    { args: ['--permission-mode', 'dontAsk'] },
    { args: ['--allowedTools', 'Bash'] },
    { args: ['--settings', '/tmp/mine.json'] },
    { args: ['--append-system-prompt', '--allowedTools=Bash'] },
    { args: ['--verbose=--x'] },
    { args: ['--'] },
    { cli: 'codex', args: ['--yolo'] },
    { cli: 'codex', args: ['-c', 'approval_policy=never'] },
    { cli: 'gemini', args: ['--approval-mode', 'yolo'] },
  ])
    await expect(spawn(more), JSON.stringify(more)).rejects.toMatchObject(denied)
  const crews = join(m.work, '.muster', 'crews')
  mkdirSync(crews, { recursive: true })
  const strict =
    'members: [{ role: architect }, { role: developer }]\napprove_plan: true\nbudget: { tokens: 1000, minutes: 5 }\n'
  writeFileSync(join(crews, 'strict.yaml'), `description: It asks first\n${strict}`)
  const crew = { project_root: m.work, request: 'x', crew: 'strict' }
  for (const more of [
    { max_iterations: 20 },
    { budget: { tokens: 2000 } },
    { budget: { minutes: 6 } },
    { approve_plan: false },
  ])
    await expect(client.startCrew({ ...crew, ...more }), JSON.stringify(more)).rejects.toMatchObject(denied)
  const quiet = ['--verbose', '--max-turns', '3', '--append-system-prompt=Be brief']
  expect(await spawn({ args: quiet })).toMatchObject({ permission_mode: 'manual' })
  expect(await spawn({ permission_mode: 'plan' })).toMatchObject({ permission_mode: 'plan' })
  expect(await spawn({})).toMatchObject({ permission_mode: 'manual' })
  const free = await m.spawn({ permission_mode: 'bypass' })
  const bypass = { agent_type: 'claude', prompt: '', working_dir: m.work, permission_mode: 'bypass' } as const
  expect(await m.as(free.session_id).client.spawnSession({ ...bypass, dry_run: true })).toMatchObject({
    permission_mode: 'bypass',
  })
})

test('[MUS-290] a parent that agrees to a plan agrees to that plan, and gives away nothing that lasts', async () => {
  const m = await usual()
  const parent = await m.spawnShell()
  const child = await m.spawn({ parent: parent.session_id })
  const plan = { hook_event_name: 'PermissionRequest', tool_name: 'ExitPlanMode', tool_input: { plan: 'x' } }
  const answer = m.hook(child, plan)
  await eventually(
    () => m.client.listApprovals({ session: child.id }),
    ({ approvals }) => approvals.length === 1,
  )
  const { client } = m.as(parent.session_id)
  for (const scope of ['session', 'always'] as const)
    await expect(client.decideApproval({ id: child.id, verdict: 'allow', scope })).rejects.toMatchObject(
      denied,
    )
  await client.decideApproval({ id: child.id, verdict: 'allow' })
  expect((await answer).body).not.toMatch(/acceptEdits|setMode/)
})

test('[MUS-291] who asks for what it may not see is not told whether it is there', async () => {
  const m = await usual()
  const [own, victim] = [await m.spawnShell(), await m.spawnShell({ name: 'hidden-one' })]
  const { client } = m.as(own.session_id)
  const { message_id } = await m.client.sendMessage({ id: victim.id, text: ': x' })
  const said = async (call: Promise<unknown>) =>
    call.then(
      () => 'answered',
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    )
  const none = 'nobody-there'
  for (const [what, ask] of Object.entries({
    getSession: (id: string) => client.getSession({ id }),
    listChildren: (id: string) => client.listChildren({ id }),
    killSession: (id: string) => client.killSession({ id }),
    decideApproval: (id: string) => client.decideApproval({ id, verdict: 'allow' }),
    getWorkflow: (id: string) => client.getWorkflow({ id }),
    chat: (session_id: string) => client.chat({ project_root: m.work, message: 'x', session_id }),
    getBlackboard: (id: string) => client.getBlackboard({ id }),
    search: (session: string) => client.search({ q: 'x', session }),
  }))
    expect(await said(ask('shell-hidden-one')), what).toBe(
      (await said(ask(none))).replaceAll(none, 'shell-hidden-one'),
    )
  expect(await said(client.getMessage({ message: message_id }))).toBe(
    (await said(client.getMessage({ message: none }))).replaceAll(none, message_id),
  )
})

test('[MUS-288] a hook says when it was called within bounds, and a report names no span of another', async () => {
  const m = await usual()
  const parent = await m.spawnShell()
  const own = await m.spawnShell({ parent: parent.session_id })
  const { client } = m.as(own.session_id)
  const payload = { hook_event_name: 'UserPromptSubmit', session_id: 'x', prompt: 'far' }
  for (const at of [8.64e15 + 1, -1, 1e300])
    await expect(client.runHook({ cli: 'claude', at, payload })).rejects.toMatchObject({ code: 'invalid' })
  await client.runHook({ cli: 'claude', at: 8e15, payload })
  const told = { cli: 'pi', event: 'before_agent_start', n: 1 } as const
  for (const at of [8e15, 1e300, -1e300, 'x'])
    await client.receiveHook({ ...told, text: `at ${at}`, at, epoch: 'x'.repeat(500) })
  const { events } = await m.client.listEvents({ session: own.id, type: 'agent.spawned' })
  expect(events).toHaveLength(5)
  for (const { timestamp, producer } of events) {
    expect(Date.parse(timestamp)).toBeLessThanOrEqual(Date.now())
    expect(producer).toBeUndefined()
  }
  const started = (await client.listEvents({ session: own.id, type: 'session.started' })).events[0]
  const { sessionId, traceId, runId, parentSpanId } = started ?? { sessionId: '' }
  const place = { sessionId, traceId, runId, spanId: parentSpanId, actor: 'me' }
  const call = { callId: 'c', tool: 'Bash' }
  const { results } = await client.appendEvents({
    events: [
      { ...place, type: 'tool.call.denied', payload: { ...call, reason: 'x' } },
      { ...place, type: 'tool.call.started', payload: call },
      { ...place, type: 'tool.call.completed', payload: call },
    ],
  })
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  const { spans } = await m.client.listTrace({ id: parent.id })
  expect(spans.find(({ kind }) => kind === 'session')).toMatchObject({ endType: null })
})
