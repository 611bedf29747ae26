import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { asker } from '../../../test/support/asker.ts'
import { call, ownAgents, script } from '../../../test/support/own-agents.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { RunId, SessionId } from '../../contract/ids.ts'

type Own = Awaited<ReturnType<typeof ownAgents>>

async function replayed(m: Own, sessionId: SessionId, n = 0) {
  const spawned = (await m.until('agent.spawned')).filter((event) => !event.parentRunId)
  // Memory is ahead of the disk.
  await vi.waitUntil(async () => {
    const last = (await m.events()).at(-1)
    return last?.type === 'session.state.changed' && last.payload.to === 'idle'
  }, 120_000)
  const before = (await m.events()).length
  const found = await m.runtime.replay({ sessionId, runId: spawned[n]?.runId as RunId })
  // Nothing was written, and nothing was done.
  expect(await m.events()).toHaveLength(before)
  return found
}

const task = (prompt: string) => ({ name: 'Task', input: { subagent_type: 'worker', prompt } })

test('[MUS-272] a run with subagents side by side, commands, a refusal and a nudge is replayed exactly, and nothing is done again', async () => {
  const m = await ownAgents({
    runtime: { approvals: [{ tool: 'Bash', pattern: 'git *', action: 'deny' }] },
  })
  const id = await m.open()
  const mark = call('Bash', { command: 'echo ran >> mark' })
  const same = call('Grep', { pattern: 'nowhere' })
  await m.say(
    id,
    script(
      { text: 'Both at once.', tools: [task(script(mark, { text: 'one' })), task(script({ text: 'two' }))] },
      call('Bash', { command: 'git status' }),
      { tools: [{ name: 'Write', input: { file_path: 'x.txt', content: 'x' }, broken: true }] },
      same,
      same,
      same,
      same,
      { text: 'All: ${lastToolResult}' },
    ),
  )
  await m.until('agent.completed', 3)
  const { differences, end, turns, children, record } = await replayed(m, id)
  expect({ differences, end: end?.status, turns }).toEqual({ differences: [], end: 'completed', turns: 8 })
  expect(children.map((one) => [one.end?.status, one.differences])).toEqual([
    ['completed', []],
    ['completed', []],
  ])
  expect(await m.until('tool.call.denied')).toHaveLength(1)
  expect(readFileSync(join(m.workspace, 'mark'), 'utf8')).toBe('ran\n')
  const nudged = record.acts.filter((act) => act.kind === 'turn' && act.gained.at(-1)?.role === 'user')
  // The first is the prompt.
  expect(nudged.length).toBeGreaterThan(1)
})

test('[MUS-352] a subagent that was limited by the scope of its input is limited so when it is replayed', async () => {
  const m = await ownAgents()
  const id = await m.open()
  const input = { task_id: 'a', task_description: 'Write.', constraints: { scope: ['src/**'] } }
  const child = script(call('Write', { file_path: 'x.txt', content: 'x' }), { text: '${lastToolResult}' })
  await m.say(id, script({ tools: [task(`${JSON.stringify(input)}\n${child}`)] }, { text: 'ok' }))
  await m.until('agent.completed', 2)
  expect(await m.until('tool.call.denied')).toHaveLength(1)
  const { differences, children } = await replayed(m, id)
  expect([differences, children.map((one) => one.differences)]).toEqual([[], [[]]])
})

test('[MUS-272] what was said meanwhile, a conversation that was made shorter, and runs after each other', async () => {
  const m = await ownAgents({ runtime: { context_tokens: 100_000 } })
  const id = await m.open()
  const glob = call('Glob', { pattern: '*' })
  await m.say(
    id,
    script(
      { tools: [{ name: 'Bash', input: { command: 'sleep 1' } }], usage: { input: 90_000 } },
      { text: 'never' },
    ),
  )
  await m.until('tool.call.started')
  await m.say(id, script(glob, { text: 'use tabs' }), { mode: 'important' })
  await m.until('agent.completed')
  await m.say(id, script(glob, { text: 'second' }))
  await m.until('agent.completed', 2)
  expect((await m.until('context.compacted')).length).toBeGreaterThan(0)
  for (const n of [0, 1]) expect((await replayed(m, id, n)).differences).toEqual([])
})

test('[MUS-272] runs that failed, were cancelled or went on after a restart', async () => {
  const runtime = { on_restart: 'resume', max_iters: 3 }
  const m = await ownAgents({ runtime })
  const id = await m.open()
  const look = call('Glob', { pattern: '*' })
  await m.say(id, script(look, look, look, look))
  await m.until('agent.failed')
  await m.say(id, script({ status: 400 }))
  await m.until('agent.failed', 2)
  await m.say(id, script(look, call('Bash', { command: 'sleep 60' })))
  await m.until('tool.call.started', 5)
  await m.runtime.interrupt(id, asker('test'))
  await m.until('agent.cancelled')
  await m.say(id, script(call('Bash', { command: 'sleep 60' }), { text: 'after ${lastToolResult}' }))
  await m.until('tool.call.started', 6)
  await m.abandon()
  const n = await ownAgents({ folder: m.folder, runtime })
  await n.runtime.start()
  await n.until('agent.completed')
  const ends: unknown[] = []
  for (const at of [0, 1, 2, 3]) {
    const { differences, end } = await replayed(n, id, at)
    ends.push(end?.status)
    expect(differences).toEqual([])
  }
  expect(ends).toEqual(['failed', 'failed', undefined, 'completed'])
})

test('[MUS-272] a record that was tampered with and a changed agent file are named', async () => {
  const m = await ownAgents()
  const [lead] = m.agents
  if (lead) m.agents[0] = { ...lead, tools: ['Bash', 'Read'] }
  const id = await m.open()
  const echo = (word: string) => call('Bash', { command: `echo ${word}` })
  await m.say(id, script(echo('one'), echo('two'), { text: 'done' }))
  await m.until('agent.completed')
  expect((await replayed(m, id)).differences).toEqual([])
  const [first, second] = await m.until('tool.call.completed', 2)
  m.change((event: AgentEvent) =>
    event.seq === second?.seq
      ? { ...second, payload: { ...second.payload, vault: first?.payload.vault } }
      : event,
  )
  expect((await replayed(m, id)).differences).toMatchObject([{ step: 3, what: 'answer' }])
  m.change((event: AgentEvent) => event)
  if (lead) m.agents[0] = { ...lead, tools: ['Read'] }
  const { differences } = await replayed(m, id)
  expect(differences.map(({ step, what }) => [step, what])).toEqual([
    [0, 'agent'],
    [2, 'answer'],
    [3, 'answer'],
  ])
})

test('[MUS-272][MUS-6] from a step on another way is taken: a session of its own with the same past, in which only the record answers', async () => {
  const m = await ownAgents()
  const id = await m.open()
  const echo = (word: string) => call('Bash', { command: `echo ${word} >> log` })
  await m.say(id, script(echo('one'), echo('two'), { text: 'done' }))
  await m.until('agent.completed')
  const [spawned] = await m.until('agent.spawned')
  const which = { sessionId: id, runId: spawned?.runId as RunId }
  const prompt = script(echo('two'), echo('three'), { text: 'so ${lastToolResult}' })
  const branch = await m.runtime.branch(which, { from: 2, by: asker('test'), prompt, runsTools: false })
  const [, end] = await m.until('agent.completed', 2)
  expect(branch.step).toBe(2)
  expect(end?.payload.output).toMatchObject({
    text: expect.stringContaining('so Refused: the record has no such call'),
  })
  expect(await m.until('tool.call.completed', 3)).toHaveLength(3)
  expect(readFileSync(join(m.workspace, 'log'), 'utf8')).toBe('one\ntwo\n')
  const [, started] = await m.until('session.started', 2)
  expect(started).toMatchObject({
    sessionId: branch.sessionId,
    payload: { replayOf: { runId: which.runId, step: 2 } },
  })
  expect(started?.traceId).not.toBe(spawned?.traceId)
  await m.until('session.completed')
  const real = await m.runtime.branch(which, {
    from: spawned?.seq ?? 0,
    by: asker('test'),
    prompt,
    runsTools: true,
  })
  await m.until('agent.completed', 3)
  expect(real.step).toBe(1)
  expect(readFileSync(join(m.workspace, 'log'), 'utf8')).toBe('one\ntwo\ntwo\nthree\n')
  await expect(
    m.runtime.branch(which, { from: 99_999, by: asker('test'), runsTools: false }),
  ).rejects.toMatchObject({
    code: 'invalid',
  })
})

test('[MUS-49][MUS-48] without its texts a run is refused with the reason, or replayed as the journal shows it', async () => {
  const m = await ownAgents()
  const id = await m.open()
  await m.say(
    id,
    script(
      call('Bash', { command: 'echo one' }),
      { tools: [task(script({ text: 'sub' }))] },
      { text: 'done' },
    ),
  )
  await m.until('agent.completed', 2)
  const [spawned] = await m.until('agent.spawned')
  const which = { sessionId: id, runId: spawned?.runId as RunId }
  rmSync(join(m.folder, 'vault'), { recursive: true })
  await expect(m.runtime.replay(which)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/deleted \d+ days after the end/),
  })
  const { record, differences, end, children } = await m.runtime.replay({ ...which, isInexact: true })
  expect({ isExact: record.isExact, differences, end: end?.status }).toEqual({
    isExact: false,
    differences: [],
    end: 'completed',
  })
  expect(children).toHaveLength(1)
})
