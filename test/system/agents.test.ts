import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { expectSameAgents, viewsOf } from '../support/agents-everywhere.ts'
import { ownDaemon } from '../support/asked-daemon.ts'
import { call, script } from '../support/own-agents.ts'
import { eventually } from '../support/session-daemon.ts'
import { standInClaude } from '../support/stand-in-claude.ts'

test('[MUS-370][MUS-372][MUS-373] subagents are in every view below their session, with what they do, and are named by id or name', async () => {
  const m = await ownDaemon()
  const client = m.client()
  const task = (prompt: string) => call('Task', { subagent_type: 'finder', prompt })
  const { session_id } = await client.chat({
    project_root: m.project,
    agent_id: 'boss',
    message: script(
      task(script({ text: 'It is in a.txt.' })),
      task(script(call('Read', { file_path: 'a.txt' }), { text: 'late', delayMs: 300_000 })),
      { text: 'One of two.' },
    ),
  })
  const { children } = await eventually(
    () => client.listChildren({ id: session_id }),
    ({ children: found }) => found.length === 2 && found[1]?.total_tools === 1,
  )
  const [done, busy] = children
  if (!done || !busy) throw new Error('there are two')
  const { session_id: short } = await client.getSession({ id: session_id })
  expect(done).toMatchObject({ name: 'finder', status: 'completed', completion_message: 'It is in a.txt.' })
  expect(busy).toMatchObject({ name: 'finder', status: 'running', origin: 'agent', inside_session_id: short })
  expect(done.tokens_used).toBeGreaterThan(0)
  expect((await expectSameAgents(viewsOf(client), { id: session_id, session_id: short })).delegated).toEqual(
    [done.id, busy.id].toSorted(),
  )

  const sm = async (...args: string[]) => {
    const { code, out, err } = await m.sm(...args)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return out
  }
  const rows = (await sm('children', short, '-r')).split('\n')
  expect(rows[0]).toMatch(
    new RegExp(`^finder \\(${done.session_id}\\) \\| completed \\| .* tokens \\| "It is in a\\.txt\\."$`),
  )
  expect(rows[1]).toMatch(
    new RegExp(`^finder \\(${busy.session_id}\\) \\| running   \\| .* tokens \\| Asking scripted: `),
  )
  const open = await sm('all')
  expect(open).toMatch(new RegExp(`\\n└─ finder +${busy.session_id} +running`))
  expect(open).toMatch(/\n1 session, 1 agent, 1 ended hidden \(sm all --closed\)\n$/)
  const closed = await sm('all', '--closed')
  expect(closed).toMatch(
    new RegExp(`\\n├─ finder +${done.session_id} +completed.*\\n└─ finder +${busy.session_id} `),
  )
  expect(closed).toMatch(/\n1 session, 2 agents\n$/)
  expect(await sm('progress', short)).toMatch(
    new RegExp(
      `\\nAgents:\\n {2}finder \\(${busy.session_id}\\) \\| running \\| .*\\n {2}1 ended hidden \\(sm children`,
    ),
  )
  expect(await sm('progress', busy.session_id)).toMatch(
    /^finder \([0-9a-f]{8}\) \| working .*\n[^]*Tools: Read\(1\)/,
  )
  expect(await sm('events', short)).toMatch(
    new RegExp(
      `spawned: Child finder \\(${done.session_id}\\) started - "SCRIPT.*\\n[^]*completed: Child ${done.session_id} completed - "It is`,
    ),
  )
  expect(await sm('events', busy.id)).toMatch(/^\[\d\d:\d\d\] spawned: finder started - "SCRIPT[^\n]*\n$/)
  expect(await sm('tail', busy.session_id)).toMatch(/task: SCRIPT.*\n.*tool: Read \{"file_path":"a\.txt"\}/)

  for (const [command, ...rest] of [['send', 'hello'], ['attach'], ['interrupt']] as const)
    expect(await m.sm(command, busy.session_id, ...rest)).toMatchObject({
      code: 4,
      err: expect.stringContaining(`finder (${busy.session_id}) is an agent inside of boss-${short}`),
    })
  expect((await m.sm('children', `${short}x`)).err).toContain('no session or agent')

  // The one that is at work is meant by its name.
  expect(await m.sm('kill', 'finder', '--force')).toMatchObject({
    code: 0,
    out: expect.stringContaining(`Killed finder (${busy.session_id})`),
    err: expect.stringContaining('unsaved: work that it has not finished'),
  })
  expect(await client.getSession({ id: busy.id })).toMatchObject({ status: 'killed', is_alive: false })
  expect(await m.sm('kill', busy.session_id)).toMatchObject({
    code: 4,
    err: expect.stringContaining('has ended (killed); there is nothing to end'),
  })
  expect(await m.sm('progress', 'finder')).toMatchObject({
    code: 4,
    err: expect.stringContaining(
      `"finder" can mean 2 agents: ${busy.session_id} (finder in boss-${short}, killed)`,
    ),
  })
  await eventually(
    () => client.getSession({ id: session_id }),
    ({ status }) => status === 'idle',
  )
})

test('[MUS-370][MUS-374] a subagent in the process of a CLI is below its session while it works, with tokens and last activity, and ends with its answer or its turn', async () => {
  const m = await standInClaude()
  const session = await m.spawn()
  await m.turn(session, { prompt: 'do it', isOpen: true })
  const timestamp = new Date().toISOString()
  const starts = (id: string) => ({
    type: 'tool_use',
    id,
    name: 'Agent',
    input: { subagent_type: 'Explore' },
  })
  const begin = async (agent: string, callId: string) => {
    await m.write(
      session,
      m.line({ id: `asks_${agent}`, tokens: 5, isOpen: true, content: [starts(callId)] }),
    )
    const file = join(
      (await m.recordOf(session)).replace(/\.jsonl$/, ''),
      'subagents',
      `agent-${agent}.jsonl`,
    )
    mkdirSync(dirname(file), { recursive: true })
    const meta = { agentType: 'Explore', description: 'Find callers', toolUseId: callId }
    writeFileSync(file.replace(/\.jsonl$/, '.meta.json'), JSON.stringify(meta))
    const say = (line: object) =>
      appendFileSync(file, `${JSON.stringify({ timestamp, isSidechain: true, agentId: agent, ...line })}\n`)
    say({ type: 'user', message: { role: 'user', content: 'Find the callers of it' } })
    const grep = { type: 'tool_use', id: `grep_${agent}`, name: 'Grep', input: { pattern: 'it(' } }
    say(m.line({ id: `words_${agent}`, tokens: 30, isOpen: true, content: [grep] }))
  }
  const agents = async () => (await m.client.listChildren({ id: session.id, recursive: true })).children
  await begin('a1', 'call1')
  const [working] = await eventually(agents, ([found]) => found?.tokens_used === 30)
  expect(working).toMatchObject({
    name: 'Explore',
    agent_type: 'Explore',
    status: 'running',
    activity: 'calling_tool',
    detail: 'Calling Grep it(',
    current_task: 'Find callers',
    parent_session_id: session.session_id,
    inside_session_id: session.session_id,
    total_tools: 0,
  })
  const views = viewsOf(m.client)
  await expectSameAgents(views, session)
  expect((await m.client.getTranscript({ id: working?.id ?? '' })).entries.map(({ who }) => who)).toEqual([
    'task',
    'tool',
  ])
  await expect(m.client.killSession({ id: working?.id ?? '' })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('works inside of the program of'),
  })
  // The daemon that is killed meanwhile neither loses it nor makes two of it.
  await m.m.restart()
  await m.write(session, {
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call1', content: 'ok' }] },
    toolUseResult: {
      agentId: 'a1',
      agentType: 'Explore',
      content: [{ type: 'text', text: 'Three callers.' }],
    },
  })
  await eventually(agents, ([found]) => found?.status === 'completed')
  await begin('a2', 'call2')
  await eventually(agents, (found) => found.length === 2)
  await m.write(session, {
    type: 'user',
    message: {
      role: 'user',
      content: [{ type: 'text', text: '[Request interrupted by user for tool use]' }],
    },
  })
  const both = await eventually(agents, (found) => found.every(({ completed_at }) => completed_at !== null))
  expect(both.map(({ status, completion_message }) => [status, completion_message])).toEqual([
    ['completed', 'Three callers.'],
    ['cancelled', null],
  ])
  expect((await expectSameAgents(views, session)).delegated).toHaveLength(2)
  expect((await m.events('agent.spawned')).filter(({ parentRunId }) => parentRunId)).toHaveLength(2)
})
