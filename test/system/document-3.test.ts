import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { runProgram } from '../cli/run-sm.ts'
import { claudeHook } from '../support/claude-golden.ts'
import { compiledOnce } from '../support/daemon-process.ts'
import { smProgram } from '../support/programs.ts'
import { eventually } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { standInClaude } from '../support/stand-in-claude.ts'

type World = Awaited<ReturnType<typeof standInClaude>>
type Named = { readonly id: string; readonly session_id: string }

const read = { name: 'Read', input: { file_path: 'src/a.ts' } }
const untouched = {
  child_agents: { auto_complete: { enabled: false, idle_after: 1 } },
  claude: { presets: { quick: { model: 'haiku' } } },
}
const usual = shared(() => standInClaude(untouched))

/** Runs `sm` as a person, or as a session. */
const sm = (c: World, args: readonly string[], as?: Named) =>
  runProgram(process.execPath, [smProgram, ...args], {
    cwd: c.work,
    env: {
      PATH: process.env['PATH'],
      HOME: c.home,
      MUSTER_HOME: c.home,
      TZ: 'UTC',
      ...(as && { MUSTER_SESSION: as.id, MUSTER_TOKEN: c.m.as(as.session_id).token }),
    },
  })

const json = async (c: World, args: readonly string[], as?: Named) =>
  JSON.parse((await sm(c, [...args, '--json'], as)).stdout) as Record<string, unknown>

const until = (
  c: World,
  { session_id }: Named,
  isRight: (s: Awaited<ReturnType<World['session']>>) => boolean,
) => eventually(() => c.client.getSession({ id: session_id }), isRight)

test('[SM-6][SM-7][SM-8][SM-9][SM-10][SM-98][SM-121] what a session is: its parent, prompt, type, times, figures, milestones and end', async () => {
  const c = await usual()
  const parent = await c.spawn()
  const spawned = await json(c, ['spawn', 'Engineer', 'Implement the login', '--name', 'task1042'], parent)
  const child = spawned as unknown as Named
  expect(await c.session(child)).toMatchObject({
    parent_session_id: parent.session_id,
    spawn_prompt: 'Implement the login',
    agent_type: 'engineer',
    friendly_name: 'engineer-task1042',
    working_dir: c.work,
    completion_status: null,
    completed_at: null,
    tokens_used: 0,
    tools_used: {},
    checkpoints: [],
  })
  await c.turn(child, {
    text: 'Half.',
    tools: [read, read, { name: 'Write', input: { file_path: 'b' } }],
    tokens: 2450,
  })
  await sm(c, ['checkpoint', 'Data model (3/5)', '--metadata', 'coverage=0'], child)
  await sm(c, ['checkpoint', 'Tests'], child)
  await sm(c, ['complete', 'All 26 tests pass'], child)
  const seen = await c.m.as(parent.session_id).client.getSession({ id: child.session_id })
  expect(seen).toMatchObject({
    completion_status: 'completed',
    completion_message: 'All 26 tests pass',
    tokens_used: 2450,
    tools_used: { Read: 2, Write: 1 },
    checkpoints: [
      { timestamp: expect.stringMatching(/Z$/), message: 'Data model (3/5)', metadata: { coverage: 0 } },
      { message: 'Tests', metadata: null },
    ],
  })
  expect(seen.spawned_at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
  expect(Date.parse(seen.completed_at ?? '')).toBeGreaterThanOrEqual(Date.parse(seen.spawned_at ?? ''))
  const elsewhere = await c.spawn({ parent: parent.session_id, working_dir: c.home })
  expect(elsewhere.working_dir).toBe(c.home)
})

test('[SM-11][SM-12][SM-66][SM-91] every end has its word, is told once, and ends a poll of progress', async () => {
  const c = await usual()
  const parent = await c.spawn()
  const child = () => c.spawn({ parent: parent.session_id })
  const ends = {
    completed: await child(),
    error: await child(),
    abandoned: await child(),
    killed: await child(),
    cancelled: await child(),
  }
  const rests = await child()
  await c.client.completeSession({ id: ends.completed.id })
  await c.client.completeSession({ id: ends.error.id, status: 'error', message: 'no keys' })
  await c.client.completeSession({ id: ends.abandoned.id, status: 'abandoned' })
  await c.client.killSession({ id: ends.killed.id, force: true })
  await c.launched(ends.cancelled)
  c.tmux('send-keys', '-t', `=${ends.cancelled.tmux_session}:`, 'C-d')
  await c.turn(rests, { text: 'Hm.' })
  await c.client.addCheckpoint({ id: rests.id, message: 'half' })
  const asking = c.hook(rests, claudeHook('PermissionRequest.AskUserQuestion', '2.1.325'))
  asking.catch(() => {})
  for (const [word, session] of Object.entries(ends)) {
    const progress = await eventually(
      () => c.client.getProgress({ id: session.id }),
      ({ is_complete }) => is_complete,
    )
    expect(progress).toMatchObject({ status: word, is_complete: true })
  }
  const events = await eventually(
    async () => (await c.client.listSessionEvents({ id: parent.id })).events,
    (list) => list.some(({ event_type }) => event_type === 'waiting'),
  )
  const of = ({ session_id }: Named) => events.filter((event) => event.session_id === session_id)
  for (const [word, session] of Object.entries(ends))
    expect(
      of(session)
        .map(({ event_type }) => event_type)
        .filter((type) => type !== 'archived' && type !== 'undelivered'),
    ).toEqual(['spawned', word])
  expect(of(rests).map(({ event_type }) => event_type)).toEqual(
    expect.arrayContaining(['spawned', 'checkpoint', 'waiting']),
  )
  expect(of(ends.error).at(-1)).toEqual({
    session_id: ends.error.session_id,
    event_type: 'error',
    timestamp: expect.stringMatching(/Z$/),
    message: `Child ${ends.error.session_id} failed - "no keys"`,
    metadata: null,
    seq: expect.any(Number),
    by: 'operator',
  })
  await c.client.decideApproval({ id: rests.session_id, verdict: 'deny' })
  await asking
})

test('[SM-15][SM-16][SM-17][SM-47][SM-64] model, arguments and preset: roles bring their model, spawn wins, for that session only', async () => {
  const c = await usual()
  const argv = async (...args: string[]) => {
    const spawned = await json(c, ['spawn', ...args])
    return (await c.launched(spawned as unknown as Named)).argv.join(' ')
  }
  expect(await argv('Engineer', 'x')).toContain('--model sonnet')
  expect(await argv('general-purpose', 'x')).toContain('--model sonnet')
  expect(await argv('ARCHITECT', 'x')).toContain('--model opus')
  expect(await argv('explore', 'x')).toContain('--model haiku')
  expect(await argv('Engineer', 'x', '--preset', 'quick')).toContain('--model haiku')
  expect(await argv('Engineer', 'x', '--preset', 'quick', '--model', 'opus')).toContain('--model opus')
  expect(await argv('Engineer', 'x')).toContain('--model sonnet')
  expect(await argv('Engineer', 'x', '--args', "--add-dir 'a b' $(touch /tmp/no) --plan")).toMatch(
    /--permission-mode plan .*--add-dir a b \$\(touch \/tmp\/no\)/,
  )
  const refused = await sm(c, ['spawn', 'Engineer', 'x', '--preset', 'nonsense'])
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('there are: quick') })
})

test('[SM-21][SM-26][SM-28][SM-29][SM-30][SM-31][SM-36][SM-90] as data: spawn, children, progress, milestones and metrics have the fields of document 3', async () => {
  const c = await usual()
  const em = await c.spawn()
  const spawned = await json(c, ['spawn', 'Engineer', 'x', '--name', 'task1043'], em)
  const { session_id } = spawned
  expect(spawned).toMatchObject({
    name: `engineer-${String(session_id)}`,
    friendly_name: 'engineer-task1043',
    agent_type: 'engineer',
    working_dir: c.work,
    parent_session_id: em.session_id,
    tmux_session: `claude-${String(session_id)}`,
    created_at: expect.stringMatching(/Z$/),
  })
  const child = spawned as unknown as Named
  await c.turn(child, { text: 'Writing unit tests', tools: [read], tokens: 2450, isOpen: true })
  await until(c, child, ({ tokens_used }) => tokens_used === 2450)
  const none = await json(c, ['progress', child.session_id])
  expect(none).toMatchObject({
    tokens_remaining_estimate: null,
    completion_percentage: null,
    estimate_basis: null,
  })
  await sm(c, ['checkpoint', 'Half way (50%)', '--metadata', 'a=1'], child)
  const progress = await json(c, ['progress', child.session_id], em)
  expect(progress).toMatchObject({
    session_id: child.session_id,
    status: 'working',
    elapsed_seconds: expect.any(Number),
    tokens_used: 2450,
    tokens_remaining_estimate: 2450,
    completion_percentage: 50,
    estimate_basis: 'its own report',
    tools_used: { Read: 1 },
    total_tools: 1,
    last_tool: {
      name: 'Read',
      args: { file_path: 'src/a.ts' },
      timestamp: expect.stringMatching(/Z$/),
      seconds_ago: expect.any(Number),
    },
    current_activity: 'Writing unit tests',
    checkpoints: [{ message: 'Half way (50%)' }],
    is_idle: false,
    idle_seconds: 0,
    is_waiting_input: false,
    is_complete: false,
  })
  expect(await c.client.getMetrics({ id: child.id })).toMatchObject({
    tokens: { tokens_used: 2450, completion_percentage: 50 },
    tools: { tools_used: { Read: 1 }, total_tools: 1, last_tool: { name: 'Read' } },
    activity: {
      current_activity: 'Writing unit tests',
      is_idle: false,
      idle_seconds: 0,
      is_waiting_input: false,
    },
  })
  expect(await json(c, ['checkpoints', child.session_id])).toMatchObject({
    checkpoints: [{ message: 'Half way (50%)', metadata: { a: 1 } }],
  })
  expect(await json(c, ['children'], em)).toMatchObject({
    children: [{ session_id: child.session_id, status: 'running', parent_session_id: em.session_id }],
  })
})

test('[SM-32] progress --watch shows it again until it has ended', async () => {
  const c = await usual()
  const session = await c.spawn()
  const args = [smProgram, 'progress', session.session_id, '--watch', '1', '--json']
  const env = { ...compiledOnce(), PATH: process.env['PATH'], HOME: c.home, MUSTER_HOME: c.home }
  const watching = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const shown: boolean[] = []
  for await (const line of createInterface({ input: watching.stdout })) {
    shown.push((JSON.parse(line) as { is_complete: boolean }).is_complete)
    if (shown.length === 2) await c.client.completeSession({ id: session.id, message: 'over' })
  }
  expect(shown.slice(0, 2)).toEqual([false, false])
  expect(shown.at(-1)).toBe(true)
  expect(shown.filter((is) => is)).toHaveLength(1)
})

test('[SM-2][MUS-209] hooks call an absolute path with a token of their own; what no hook told is found in the transcript', async () => {
  const c = await usual()
  const session = await c.spawn({ environment: { PATH: '/usr/bin:/bin' } })
  const { argv, env } = await c.launched(session)
  const settings = JSON.parse(readFileSync(argv[argv.indexOf('--settings') + 1] ?? '', 'utf8')) as {
    hooks: Record<string, { hooks: { type: string; url?: string; command?: string }[] }[]>
  }
  const hooks = Object.values(settings.hooks).flatMap((groups) => groups.flatMap((group) => group.hooks))
  expect(hooks.length).toBeGreaterThan(5)
  for (const { type, url, command } of hooks)
    expect(type === 'http' ? url : command).toMatch(/^(http:\/\/127\.0\.0\.1:\d+\/|'?\/)/)
  expect(env['PATH']?.split(':')[0]).toBe(join(c.home, 'bin'))
  await c.write(session, { type: 'user', message: { role: 'user', content: 'do it' } })
  await c.write(
    session,
    c.line({ id: 'told_by_no_hook', tokens: 70, content: [{ type: 'text', text: 'Done.' }] }),
  )
  expect(await until(c, session, ({ tokens_used }) => tokens_used === 70)).toMatchObject({
    status: 'running',
  })
})

test('[SM-3][SM-4] a child is attached to and read while it runs, and read after it was killed', async () => {
  const c = await usual()
  const parent = await c.spawn()
  const child = await c.spawn({ parent: parent.session_id })
  await c.turn(child, { prompt: 'do it', text: 'I have begun.', tools: [read] })
  const asParent = c.m.as(parent.session_id).client
  expect((await asParent.getAttach({ id: child.id })).argv).toEqual([
    'tmux',
    '-S',
    expect.stringMatching(new RegExp(`/${c.socket}$`)),
    'attach',
    '-t',
    expect.stringMatching(/^\$\d+$/),
  ])
  const said = async () =>
    (await asParent.getTranscript({ id: child.id })).entries.map(({ who, text }) => `${who}: ${text}`)
  expect(await said()).toEqual(['user: do it', 'tool: Read {"file_path":"src/a.ts"}', 'agent: I have begun.'])
  expect(await asParent.sendMessage({ id: child.id, text: 'Status?' })).toMatchObject({ state: 'queued' })
  await asParent.killSession({ id: child.id, force: true })
  expect(await said()).toContain('agent: I have begun.')
})

test('[SM-87][SM-88][SM-89] state and errors come from the record, a screen is only looked at, and a milestone outweighs every guess', async () => {
  const c = await standInClaude(untouched)
  const [fails, shows, reports] = [
    await c.spawn(),
    await c.spawn({ agent_type: 'shell', prompt: '' }),
    await c.spawn({ budget: { tokens: 10_000 } }),
  ]
  await c.turn(fails, { text: 'Begun.', isOpen: true })
  await c.client.completeSession({ id: fails.id, status: 'error', message: 'the database is gone' })
  const failed = await c.session(fails)
  expect(failed).toMatchObject({ status: 'error', completion_message: 'the database is gone' })
  expect(Date.parse(failed.last_activity_at)).toBeGreaterThan(Date.parse(failed.created_at))
  c.tmux(
    'send-keys',
    '-t',
    `=${shows.tmux_session}:`,
    'for i in $(seq 200); do echo secret-$i; done',
    'Enter',
  )
  const { lines } = await eventually(
    () => c.client.getOutput({ id: shows.id }),
    (found) => found.lines.some((line) => line === 'secret-200'),
  )
  expect(lines.length).toBeLessThanOrEqual(50)
  const { events } = await c.client.listEvents({ limit: 1000 })
  expect(JSON.stringify(events)).not.toContain('secret-')
  await c.turn(reports, { text: 'Begun.', tokens: 300 })
  await until(c, reports, ({ tokens_used }) => tokens_used === 300)
  expect(await c.client.getProgress({ id: reports.id })).toMatchObject({
    tokens_remaining_estimate: 9700,
    estimate_basis: 'its budget',
  })
  await c.client.addCheckpoint({ id: reports.id, message: 'Data model (3/5 tasks)' })
  expect(await c.client.getProgress({ id: reports.id })).toMatchObject({
    completion_percentage: 60,
    tokens_remaining_estimate: 200,
    estimate_basis: 'its own report',
  })
  await c.client.completeSession({ id: reports.id })
  expect(await c.client.getProgress({ id: reports.id })).toMatchObject({
    completion_percentage: 100,
    tokens_remaining_estimate: 0,
  })
})

test('[SM-114][SM-115] an estimate from earlier sessions of the kind says so; what runs away, or fails again and again, is marked with its evidence', async () => {
  const c = await usual()
  for (const tokens of [100, 300, 200]) {
    const earlier = await c.spawn({ agent_type: 'Explore' })
    await c.turn(earlier, { text: 'Found.', tokens })
    await until(c, earlier, ({ tokens_used }) => tokens_used === tokens)
    await c.client.completeSession({ id: earlier.id })
  }
  // What was completed is looked up every ten seconds; a new daemon looks at once.
  await c.m.restart('SIGTERM')
  const session = await c.spawn({ agent_type: 'Explore' })
  await c.turn(session, { text: 'Looking.', tokens: 50, isOpen: true })
  await until(c, session, ({ tokens_used }) => tokens_used === 50)
  expect(await c.client.getProgress({ id: session.id })).toMatchObject({
    completion_percentage: 25,
    tokens_remaining_estimate: 150,
    estimate_basis: 'the median of 3 earlier explore sessions',
  })
  expect((await sm(c, ['progress', session.session_id])).stdout).toContain(
    'Tokens: 50 / ~200 est (25%), the median of 3 earlier explore sessions',
  )
  expect((await c.session(session)).alerts).toEqual([])
  const failing = { name: 'Grep', input: { pattern: 'x' }, isError: true }
  await c.turn(session, { prompt: 'more', tools: [failing, failing, failing], tokens: 600, isOpen: true })
  const { alerts } = await until(c, session, ({ tokens_used }) => tokens_used === 650)
  expect(alerts).toEqual([
    { kind: 'failing', evidence: 'Grep failed 3 times in a row with the same input' },
    { kind: 'runaway', evidence: '650 tokens; the median of 3 earlier explore sessions took 200' },
  ])
  expect((await sm(c, ['all'])).stdout).toContain('alert: failing')
})

test('[SM-106] what says in a few words what a session is about, and who made the summary', async () => {
  const c = await usual()
  const session = await c.spawn({ prompt: 'Implement the login' })
  await c.turn(session, { text: 'The form is there.' })
  await c.client.addCheckpoint({ id: session.id, message: 'Form done' })
  const { stdout } = await sm(c, ['what', session.session_id])
  expect(stdout).toContain(`(${session.session_id}): ${session.name} is `)
  expect(stdout).toContain(
    ': Implement the login. Last milestone: Form done. It last said: The form is there.',
  )
  expect(stdout).toMatch(/\n\(made by Muster, from what it said itself\)\n$/)
})

test('[SM-110][SM-111][SM-112] the phases: spawn and list, then figures in real time, then an end that is detected and told', async () => {
  const c = await standInClaude({ child_agents: { mode: 'manual', auto_complete: { idle_after: 1 } } })
  const em = await c.spawn({ mode: 'manual' })
  const first = (await json(c, ['spawn', 'claude', 'one', '--args', '--verbose'], em)) as unknown as Named
  expect((await c.launched(first)).argv).toContain('--verbose')
  expect((await sm(c, ['all'])).stdout).toContain(first.session_id)
  expect((await sm(c, ['children'], em)).stdout).toContain(first.session_id)
  await c.turn(first, { text: 'All done.', tools: [read], tokens: 40 })
  await sm(c, ['checkpoint', 'Half'], first)
  expect(await until(c, first, ({ tokens_used }) => tokens_used === 40)).toMatchObject({
    tools_used: { Read: 1 },
  })
  expect((await sm(c, ['progress', first.session_id])).stdout).toMatch(/Tools: Read\(1\)[\s\S]*Half/)
  const second = (await json(c, ['spawn', 'claude', 'two', '--mode', 'auto'], em)) as unknown as Named
  await c.turn(second, { text: 'All done.', tools: [read], tokens: 40 })
  await until(c, second, ({ completion_status }) => completion_status === 'completed')
  expect((await c.session(first)).completion_status).toBeNull()
  await sm(c, ['complete', 'by its own word'], first)
  const { messages } = await eventually(
    () => c.client.listMessages({ id: em.id }),
    (list) => list.messages.some(({ preview }) => preview.includes('by its own word')),
  )
  expect(messages.filter(({ preview }) => preview.includes('completed:'))).toHaveLength(2)
  expect((await sm(c, ['events', '--type', 'completed'], em)).stdout.trim().split('\n')).toHaveLength(2)
})
