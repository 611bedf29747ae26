import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { call, script } from '../support/own-agents.ts'
import { type Frame, is, type Json, runtimeDaemon } from '../support/runtime-daemon.ts'
import { eventually } from '../support/session-daemon.ts'
import { slowdown } from '../support/slowdown.ts'

test('[RUN-24][RUN-25][RUN-26][RUN-28][RUN-29][RUN-43][RUN-44][RUN-45][RUN-59] runs, their children and their context, as the contract writes them', async () => {
  const m = await runtimeDaemon()
  const child = script(call('Read', { file_path: 'a.txt' }), { text: 'It is 42.' })
  const { session_id } = await m.say(
    script(
      call('Write', { file_path: 'src/b.txt', content: 'b' }),
      call('Task', { subagent_type: 'finder', prompt: child }),
      { text: 'All done.' },
    ),
  )
  await m.until(is('Outcome', { agent_id: 'boss' }))
  const runs = await eventually(
    () => m.runs(`session_id=${String(session_id)}`),
    (found) => found.length === 2 && found.every(({ status }) => status === 'completed'),
  )
  const [sub, main] = runs
  expect(main).toEqual({
    run_id: expect.stringMatching(/^run_/),
    repo_path: m.project,
    session_id,
    agent_id: 'boss',
    agent_kind: 'main',
    status: 'completed',
    detail: 'All done.',
    started_at: expect.any(Number),
    ended_at: expect.any(Number),
  })
  expect(sub).toMatchObject({ agent_id: 'finder', agent_kind: 'subagent', parent_run_id: main?.['run_id'] })
  expect(await m.runs(`project_root=${encodeURIComponent(m.project)}`)).toHaveLength(2)
  expect(await m.runs('project_root=%2Fnowhere')).toEqual([])
  const children = await m.ask(`/api/agent-children?run_id=${String(main?.['run_id'])}`)
  expect(children.body).toEqual([sub])
  const context = async (query: string) =>
    (await m.ask(`/api/agent-context?run_id=${String(main?.['run_id'])}${query}`)).body as Json
  const summary = await context('')
  expect(summary).toEqual({
    run: main,
    summary: {
      message_count: 2,
      user_messages: 1,
      agent_messages: 1,
      system_messages: 0,
      started_at: main?.['started_at'],
      ended_at: main?.['ended_at'],
    },
  })
  const raw = await context('&view=raw')
  expect(raw['messages']).toMatchObject([
    { role: 'user', content: expect.stringContaining('SCRIPT') },
    { role: 'agent', from: 'boss', to: 'user', content: 'All done.' },
  ])
  expect(raw['tools']).toMatchObject([
    { tool: 'Write', status: 'completed' },
    { tool: 'Task', status: 'completed', detail: 'It is 42.' },
  ])
  const slice = await context('&slice=artifacts')
  expect(slice['artifacts']).toMatchObject([{ kind: 'file', name: 'src/b.txt', detail: 'created' }])
  expect(slice).not.toHaveProperty('messages')
  expect((await m.ask('/api/agent-context?run_id=run_00000000000000000000000000')).status).toBe(404)
})

test('[RUN-30][RUN-31][RUN-32][RUN-33][RUN-34][RUN-35][RUN-36][RUN-37][RUN-39][RUN-40][RUN-41][RUN-42][RUN-60] the nine types and no other, each with its fields, session and run', async () => {
  const m = await runtimeDaemon()
  const failing = script(
    { tools: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
    { status: 400, text: '' },
  )
  const { session_id } = await m.say(
    script(
      { text: 'I ask.', tools: [{ name: 'Task', input: { subagent_type: 'finder', prompt: failing } }] },
      { text: 'It failed.' },
    ),
  )
  await m.until(is('Outcome', { agent_id: 'boss' }))
  await m.ask('/api/settings', { project_root: m.project, mode: 'chat' })
  await m.until(is('SettingsUpdated'))
  const types = new Set(m.frames.map(({ type }) => type))
  expect([...types].sort()).toEqual(
    [
      'AgentStatus',
      'Message',
      'Outcome',
      'QueueUpdated',
      'SettingsUpdated',
      'StateUpdated',
      'SubagentResult',
      'SubagentSpawned',
      'Token',
    ].sort(),
  )
  for (const { data, id, type } of m.frames) {
    expect(data).toMatchObject({ type, session_id: expect.any(String), run_id: expect.any(String) })
    if (type === 'Token') expect([id, data['seq']]).toEqual([undefined, undefined])
  }
  const stored = m.frames.filter(({ type }) => type !== 'Token')
  const numbers = stored.map(({ data }) => Number(data['seq']))
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
  // Whoever comes later hears the same numbers, and who runs for nobody is told of as no subagent.
  expect(stored.filter(is('SubagentSpawned')).map(({ data }) => data['subagent_id'])).toEqual(['finder'])
  expect(stored.filter(is('SubagentResult')).map(({ data }) => data['subagent_id'])).toEqual(['finder'])
  const one = (type: string, more: Json = {}) => m.frames.find(is(type, more))?.data
  expect(one('SubagentSpawned', { subagent_id: 'finder' })).toMatchObject({
    parent_id: 'boss',
    task: failing,
  })
  expect(one('SubagentResult', { subagent_id: 'finder' })).toMatchObject({
    parent_id: 'boss',
    project_root: m.project,
    outcome: { type: 'none', status: 'failed' },
  })
  expect(one('AgentStatus', { status: 'calling_tool' })).toMatchObject({
    agent_id: 'boss',
    detail: 'Calling Task',
  })
  for (const status of ['model_loading', 'thinking', 'calling_tool', 'working'])
    expect(one('AgentStatus', { status, agent_id: 'boss' })).toBeDefined()
  await m.until(is('AgentStatus', { status: 'idle', agent_id: 'boss' }))
  const statuses = m.frames.filter(is('AgentStatus')).map(({ data }) => data)
  for (const { detail } of statuses) expect(detail).toMatch(phases)
  expect(leftOpen(statuses)).toEqual([])
  expect(one('Message', { from: 'boss', to: 'user' })).toMatchObject({ content: 'It failed.' })
  expect(one('QueueUpdated')).toMatchObject({
    project_root: m.project,
    agent_id: 'boss',
    items: [{ agent_id: 'boss', session_id, preview: expect.stringContaining('SCRIPT') }],
  })
  expect(one('SettingsUpdated')).toMatchObject({ project_root: m.project, mode: 'chat' })
  const tokens = m.frames.filter(is('Token', { agent_id: 'boss' })).map(({ data }) => data['token'])
  expect(tokens.join('')).toContain('It failed.')
  expect(one('Outcome', { agent_id: 'boss' })).toMatchObject({
    outcome: { type: 'none', status: 'completed' },
  })
})

test('[RUN-31][RUN-60] the last line that a command prints is told while it runs, without its secrets, and kept nowhere', async () => {
  const m = await runtimeDaemon({ config: 'runtime: { approvals: [{ tool: Bash, action: allow }] }\n' })
  const secret = `ghp_${'a1B2'.repeat(9)}`
  const wait = 'until [ -e go ]; do sleep 0.05; done'
  await m.say(
    script(call('Bash', { command: `echo begun; echo "halfway with ${secret}"; ${wait}` }), {
      text: 'Done.',
    }),
  )
  const isLine = (frame: Frame) =>
    is('AgentStatus')(frame) && String(frame.data['detail']).includes('halfway')
  const [live] = await m.until(isLine)
  expect(live?.id).toBeUndefined()
  expect(live?.data).toMatchObject({
    agent_id: 'boss',
    status: 'calling_tool',
    detail: expect.stringMatching(/^Calling Bash: halfway with \[redacted:[\w-]+\]$/),
    status_id: live?.data['run_id'],
    lifecycle: 'doing',
  })
  writeFileSync(join(m.project, 'go'), '')
  await m.until(is('Outcome', { agent_id: 'boss' }))
  const statuses = m.frames.filter(is('AgentStatus'))
  for (const { data } of statuses.filter(({ id }) => id !== undefined)) expect(data['detail']).toMatch(phases)
  expect(leftOpen(statuses.map(({ data }) => data))).toEqual([])
})

/** Every phase there is, in the words of the one table. */
const phases =
  /^(Asking \S+|Thinking|Thought|No answer|Calling \w+|Called \w+|\w+ failed|Waiting for \w+|Idle)$/

/**
 * Rows that were begun and not closed. A run has one row of its own, in which each status takes the place of the one
 * before; the rows of requests and calls begin once and are done once.
 */
function leftOpen(statuses: readonly Json[]): Json[] {
  const open = new Map<unknown, Json>()
  for (const status of statuses) {
    const { status_id: id, run_id: run, lifecycle } = status
    expect(id, JSON.stringify(status)).toEqual(expect.any(String))
    if (id !== run) expect(open.has(id), JSON.stringify(status)).toBe(lifecycle === 'done')
    if (lifecycle === 'done') open.delete(id)
    else open.set(id, status)
  }
  return [...open.values()]
}

test('[RUN-46][RUN-47][RUN-19] chat starts, queues, reroutes and switches; cancel names what it ended', async () => {
  const m = await runtimeDaemon()
  const child = script({ text: 'late', delayMs: 60_000 })
  const first = await m.say(script(call('Task', { subagent_type: 'finder', prompt: child })))
  expect(first).toMatchObject({ status: 'started', agent_id: 'boss' })
  const { session_id } = first
  await m.until(is('SubagentSpawned', { subagent_id: 'finder' }))
  const queued = await m.say(script({ text: 'second' }), { session_id })
  expect(queued).toMatchObject({ status: 'queued', session_id })
  const other = await m.say(`@maker ${script({ text: 'made' })}`, { session_id })
  expect(other).toMatchObject({ status: 'started', agent_id: 'maker', session_id })
  await m.until(is('Outcome', { agent_id: 'maker' }))
  expect(await m.say('/mode chat', { session_id })).toMatchObject({ status: 'mode_set', mode: 'chat' })
  expect(
    (await m.ask('/api/chat', { project_root: m.project, session_id, message: '/mode wild' })).status,
  ).toBe(400)
  const [running] = (await m.runs(`session_id=${String(session_id)}`)).filter(
    ({ status, agent_kind }) => status === 'running' && agent_kind === 'main',
  )
  const before = performance.now()
  const cancelled = await m.ask('/api/agent-cancel', { run_id: running?.['run_id'] })
  expect(performance.now() - before).toBeLessThan(3000 * slowdown())
  expect(cancelled.body['cancelled_run_ids']).toHaveLength(2)
  await m.until(is('Message', { from: 'boss', content: 'second' }))
  expect((await m.ask('/api/agent-cancel', { run_id: running?.['run_id'] })).body).toEqual({
    cancelled_run_ids: [],
  })
  const results = m.frames.filter(is('SubagentResult', { subagent_id: 'finder' }))
  expect(results).toHaveLength(1)
  expect(results[0]?.data).toMatchObject({ outcome: { status: 'cancelled' } })
  for (const [body, status] of [
    [{ agent_id: 'finder' }, 400],
    [{ agent_id: 'nobody' }, 404],
    [{ project_root: '/nowhere/at/all' }, 400],
    [{ session_id: 'ffffffff' }, 404],
  ] as const)
    expect(
      (await m.ask('/api/chat', { project_root: m.project, agent_id: 'boss', message: 'x', ...body })).status,
    ).toBe(status)
})

test('[RUN-48][RUN-38][RUN-49] settings hold over a restart and refuse an unknown mode; the tree shows what is touched', async () => {
  const m = await runtimeDaemon()
  const root = `project_root=${encodeURIComponent(m.project)}`
  expect((await m.ask(`/api/settings?${root}`)).body).toEqual({ project_root: m.project, mode: 'auto' })
  expect((await m.ask('/api/settings', { project_root: m.project, mode: 'wild' })).status).toBe(400)
  await m.ask('/api/settings', { project_root: m.project, mode: 'chat' })
  expect((await m.ask(`/api/settings?${root}`)).body).toMatchObject({ mode: 'chat' })
  await m.say(
    script(
      call('Read', { file_path: 'a.txt' }),
      call('Write', { file_path: 'src/deep/b.txt', content: 'b' }),
      {
        text: 'late',
        delayMs: 60_000,
      },
    ),
  )
  const tree = await eventually(
    async () => (await m.ask(`/api/workspace/tree?${root}`)).body as Json,
    (found) => JSON.stringify(found).includes('b.txt'),
  )
  expect(tree).toMatchObject({
    type: 'dir',
    path: m.project,
    children: [
      { type: 'file', path: 'a.txt', agent: 'boss', status: 'working' },
      {
        type: 'dir',
        path: 'src',
        children: [{ type: 'dir', path: 'src/deep', children: [{ path: 'src/deep/b.txt', agent: 'boss' }] }],
      },
    ],
  })
})

test('[RUN-7] in chat mode plain text ends the turn, and the next word is a turn of its own', async () => {
  const m = await runtimeDaemon({ config: 'runtime: { mode: chat }\n' })
  const { session_id } = await m.say(script({ text: 'What do you want?' }, { text: 'never said' }))
  await m.until(is('Message', { from: 'boss', content: 'What do you want?' }))
  await m.say(script({ tools: [{ name: 'Read', input: { file_path: 'a.txt' } }] }, { text: 'Read.' }), {
    session_id,
  })
  await m.until(is('Message', { from: 'boss', content: 'Read.' }))
  expect(await m.runs(`session_id=${String(session_id)}`)).toHaveLength(2)
})
