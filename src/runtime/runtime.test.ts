import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { asker } from '../../test/support/asker.ts'
import { call, ownAgents, script } from '../../test/support/own-agents.ts'
import { slowdown } from '../../test/support/slowdown.ts'

test('[RUN-5][RUN-47] a prompt opens a run with one end, its words are the answer, and the next prompt knows them', async () => {
  const m = await ownAgents()
  m.put('a.txt', 'forty-two')
  const id = await m.open()
  await m.say(id, script(call('Read', { file_path: 'a.txt' }), { text: 'It is ${lastToolResult}' }))
  const [end] = await m.until('agent.completed')
  expect(end?.payload.output).toMatchObject({ type: 'none', text: expect.stringContaining('forty-two') })
  await m.say(id, script({ text: 'I was asked ${userTurns} times.' }))
  await m.until('agent.completed', 2)
  const spawned = await m.until('agent.spawned', 2)
  expect(new Set(spawned.map(({ runId }) => runId)).size).toBe(2)
  expect(spawned.every(({ parentRunId }) => parentRunId === undefined)).toBe(true)
  expect((await m.until('message.accepted', 2)).every(({ payload }) => payload.proof === 'runtime')).toBe(
    true,
  )
  expect(m.state(id)).toMatchObject({ lifecycle: 'idle', queue: [] })
  expect(m.tokens.map(({ token }) => token).join('')).toContain('forty-two')
  expect(m.bugs).toEqual([])
})

test('[RUN-14][RUN-15][RUN-18] a subagent works for the run that asked, and returns to it', async () => {
  const m = await ownAgents()
  const id = await m.open()
  const child = script(call('Grep', { pattern: 'x' }), { text: 'Nothing there.' })
  await m.say(
    id,
    script(call('Task', { subagent_type: 'search', prompt: child, description: 'look' }), {
      text: 'It said: ${lastToolResult}',
    }),
  )
  const ends = await m.until('agent.completed', 2)
  const [main, sub] = await m.until('agent.spawned', 2)
  expect(sub).toMatchObject({
    parentRunId: main?.runId,
    traceId: main?.traceId,
    payload: { kind: 'subagent', agentId: 'search', depth: 1 },
  })
  expect(ends.map(({ payload }) => payload.agentId)).toEqual(['search', 'lead'])
  expect(ends[1]?.payload.output).toMatchObject({ text: 'It said: Nothing there.' })
  const choices = await m.until('decision.made')
  expect(choices.map(({ payload }) => payload.subject)).toEqual(
    expect.arrayContaining(['model', 'tool', 'agent']),
  )
  expect(await m.until('task.completed')).toHaveLength(1)
})

const developerInput = (scope: readonly string[]) =>
  JSON.stringify({
    task_id: 'task-001',
    task_description: 'Write notes.',
    constraints: { scope, testing_required: false },
  })

test('[MUS-352][COL-15] the scope inside of a DeveloperInput limits what Task gives, and the input is recorded', async () => {
  const m = await ownAgents()
  const id = await m.open()
  const child = script(
    call('Write', { file_path: 'src/in.md', content: 'in' }),
    call('Write', { file_path: 'src/in.ts', content: 'in' }),
    call('Write', { file_path: 'out.md', content: 'out' }),
    { text: 'Done.' },
  )
  const prompt = `${developerInput(['**/*.md'])}\n\n${child}`
  const task = { subagent_type: 'worker', prompt, scope: ['src/**'] }
  await m.say(id, script(call('Task', task), { text: 'It said: ${lastToolResult}' }))
  await m.until('agent.completed', 2)
  const denied = await m.until('tool.call.denied', 2)
  expect(denied.map(({ payload }) => [payload.gate, payload.reason])).toEqual([
    ['scope', expect.stringContaining('src/in.ts is outside what may be changed (**/*.md)')],
    ['scope', expect.stringContaining('out.md is outside what may be changed (src/**)')],
  ])
  expect(readFileSync(join(m.workspace, 'src/in.md'), 'utf8')).toBe('in')
  expect(existsSync(join(m.workspace, 'src/in.ts'))).toBe(false)
  expect((await m.until('agent.task.assigned'))[0]?.payload).toMatchObject({
    description: 'Write notes.',
    input: { task_id: 'task-001', constraints: { scope: ['**/*.md'] } },
  })
  expect(m.bugs).toEqual([])
})

test('[MUS-352] a Task whose input is broken begins nothing and says what to fix; the corrected one is done', async () => {
  const m = await ownAgents()
  const id = await m.open()
  const child = script({ text: 'Done.' })
  const task = (prompt: string) => call('Task', { subagent_type: 'worker', prompt })
  const broken = developerInput(['**']).replace('"scope"', '"scop"')
  await m.say(id, script(task(broken), task(`${developerInput(['**'])}\n${child}`), { text: 'ok' }))
  await m.until('agent.completed', 2)
  const [failed] = await m.until('tool.call.failed')
  expect(failed?.payload).toMatchObject({
    tool: 'Task',
    error: expect.stringContaining('constraints.scop: unknown key; did you mean constraints.scope?'),
  })
  expect(await m.until('agent.task.assigned')).toHaveLength(1)
  expect(await m.until('agent.spawned', 2)).toHaveLength(2)
})

test('[MUS-352] a Task whose scopes have no file in common is denied, and no agent begins', async () => {
  const m = await ownAgents()
  const id = await m.open()
  const task = { subagent_type: 'worker', prompt: developerInput(['docs/**']), scope: ['src/**'] }
  await m.say(id, script(call('Task', task), { text: '${lastToolResult}' }))
  const [end] = await m.until('agent.completed')
  expect(end?.payload.output).toMatchObject({
    text: expect.stringContaining('no file is in src/** and in docs/**'),
  })
  expect((await m.until('tool.call.denied'))[0]?.payload).toMatchObject({ tool: 'Task', gate: 'scope' })
  expect((await m.events()).some(({ type }) => type === 'agent.task.assigned')).toBe(false)
})

test('[RUN-16][RUN-17][RUN-6] a subagent neither delegates nor speaks, and people do not speak to it', async () => {
  const m = await ownAgents()
  const id = await m.open()
  const child = script(
    call('Task', { subagent_type: 'search', prompt: 'x' }),
    call('SendMessage', { to: 'coder', message: 'x' }),
    call('Handoff', { to: 'coder', reason: 'x' }),
    { text: 'I could not.' },
  )
  await m.say(id, script(call('Task', { subagent_type: 'worker', prompt: child }), { text: 'ok' }))
  await m.until('agent.completed', 2)
  const denied = await m.until('tool.call.denied', 3)
  expect(denied.map(({ payload }) => [payload.tool, payload.gate])).toEqual([
    ['Task', 'delegation'],
    ['SendMessage', 'delegation'],
    ['Handoff', 'delegation'],
  ])
  expect(await m.until('agent.spawned', 2)).toHaveLength(2)
  await expect(
    m.runtime.open({ agent: 'search', workspace: m.workspace, by: asker('test') }),
  ).rejects.toMatchObject({
    code: 'invalid',
  })
})

test('[RUN-19] a cancel reaches a child, its tool and its request, and each has one end', async () => {
  const m = await ownAgents()
  const id = await m.open()
  const child = script(call('Bash', { command: 'sleep 60 & sleep 60; wait' }))
  await m.say(
    id,
    script({
      tools: [
        { name: 'Task', input: { subagent_type: 'worker', prompt: child } },
        { name: 'Task', input: { subagent_type: 'worker', prompt: script({ hang: true }) } },
      ],
    }),
  )
  await m.until('agent.spawned', 3)
  await m.until('tool.call.started', 3)
  await m.until('llm.request.started', 3)
  const [run] = m.runtime.runs()
  const before = performance.now()
  const ended = await m.runtime.cancel(run?.runId as never, asker('test'))
  expect(performance.now() - before).toBeLessThan(5000 * slowdown())
  expect(ended).toHaveLength(3)
  const cancelled = await m.until('agent.cancelled', 3)
  expect(cancelled).toHaveLength(3)
  expect([...m.state(id).open.values()].map(({ kind }) => kind)).toEqual(['session'])
  expect(m.runtime.runs()).toEqual([])
})

test('[RUN-47] what comes while it works waits in order, is told, can be taken back, and survives a cancel', async () => {
  const m = await ownAgents()
  const id = await m.open()
  await m.say(id, script({ text: 'slow', delayMs: 60_000 }))
  await m.until('llm.request.started')
  const second = await m.say(id, script({ text: 'second' }))
  await m.say(id, script({ text: 'third' }))
  const updates = await m.until('queue.updated', 4)
  expect(updates.at(-1)?.payload.items.map(({ preview }) => preview.includes('second'))).toEqual([
    true,
    false,
  ])
  await m.runtime.session(id).dismiss(m.state(id), second, asker('test'))
  const [run] = m.runtime.runs()
  await m.runtime.cancel(run?.runId as never, asker('test'))
  const [done] = await m.until('agent.completed')
  expect(done?.payload.output).toMatchObject({ text: 'third' })
  expect((await m.until('message.failed'))[0]?.payload).toMatchObject({ reason: 'dismissed by test' })
})

test('[RUN-47] what is important comes into the run at its next step', async () => {
  const m = await ownAgents()
  const id = await m.open()
  await m.say(id, script(call('Bash', { command: 'sleep 1' }), { text: 'done' }))
  await m.until('tool.call.started')
  await m.say(id, 'and use tabs', { mode: 'important' })
  await m.until('agent.completed')
  expect(await m.until('agent.spawned')).toHaveLength(1)
  expect(await m.until('message.accepted', 2)).toHaveLength(2)
})

test('[RUN-13][MUS-258] main agents write to each other and hand over, and a circle is stopped', async () => {
  const m = await ownAgents()
  const id = await m.open()
  await m.say(
    id,
    script(call('SendMessage', { to: 'coder', message: script({ text: 'got it' }) }), { text: 'sent' }),
  )
  const ends = await m.until('agent.completed', 2)
  expect(ends.map(({ payload }) => payload.agentId).sort()).toEqual(['coder', 'lead'])
  const back = (to: string, inner: string) =>
    script(call('Handoff', { to, reason: 'yours', context: inner }), { text: 'so I do it' })
  let prompt = back('coder', '')
  for (let i = 0; i < 8; i++) prompt = back(i % 2 === 0 ? 'lead' : 'coder', prompt)
  // The innermost goes to the coder, the next to the lead, and so on: the outermost is the lead's.
  await m.say(id, prompt)
  const [loop] = await m.until('handoff.loop_detected')
  expect(loop?.payload.cycle.length).toBeGreaterThan(2)
  expect((await m.until('handoff.rejected'))[0]?.payload.reason).toContain('circle')
  expect((await m.until('handoff.accepted')).length).toBeGreaterThan(3)
})

test('[MUS-259] what a rule asks about waits for a person; no is an answer, and yes may be remembered', async () => {
  const m = await ownAgents({
    runtime: {
      approvals: [
        { tool: 'Bash', pattern: 'git *', action: 'ask' },
        { tool: 'Bash', action: 'deny' },
      ],
    },
  })
  const id = await m.open()
  const git = call('Bash', { command: 'git status --short' })
  await m.say(id, script(git, git, git, call('Bash', { command: 'echo hi' }), { text: 'done' }))
  const decide = async (n: number, decision: object) => {
    await m.until('approval.requested', n)
    const [ask] = m.state(id).asks ?? []
    await m.runtime.decide(m.state(id), ask as never, { decision: decision as never, by: asker('person') })
  }
  await decide(1, { verdict: 'deny', reason: 'not now' })
  await decide(2, { verdict: 'allow', scope: 'session' })
  await m.until('agent.completed')
  const denied = await m.until('tool.call.denied', 2)
  expect(denied.map(({ payload }) => payload.reason)).toEqual([
    'not now',
    expect.stringContaining('not allowed here'),
  ])
  expect(await m.until('approval.requested')).toHaveLength(2)
  expect(await m.until('tool.call.failed', 2).catch(() => [])).toBeDefined()
})

test('[RUN-31] what a run does after an answer is told again, though it did the same before the question', async () => {
  const m = await ownAgents({
    runtime: {
      approvals: [
        { tool: 'Bash', pattern: 'git *', action: 'ask' },
        { tool: 'Bash', action: 'allow' },
      ],
    },
  })
  const id = await m.open()
  const both = ['echo hi', 'git status --short'].map((command) => ({ name: 'Bash', input: { command } }))
  await m.say(id, script({ tools: both }, { text: 'done' }))
  await m.until('approval.requested')
  await m.runtime.decide(m.state(id), m.state(id).asks?.[0] as never, {
    decision: { verdict: 'allow', scope: 'once' },
    by: asker('person'),
  })
  await m.until('agent.completed')
  const told = (await m.events()).flatMap(({ type, payload }) =>
    type === 'agent.waiting' ? ['waiting'] : type === 'agent.status.changed' ? [payload.detail] : [],
  )
  expect(told.slice(told.indexOf('Calling Bash'), told.indexOf('waiting') + 2)).toEqual([
    'Calling Bash',
    'waiting',
    'Calling Bash',
  ])
})

test('[MUS-260][MUS-333] a plan is shown before anything is changed, and a question waits for its answer', async () => {
  const m = await ownAgents()
  const id = await m.open()
  const write = call('Write', { file_path: 'new.txt', content: 'x' })
  await m.say(
    id,
    script(
      call('EnterPlanMode', {}),
      write,
      call('ExitPlanMode', { plan: 'write new.txt' }),
      write,
      call('AskUserQuestion', {
        questions: [
          { question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] },
          { question: 'When?', header: 'Time' },
        ],
      }),
      { text: 'They said ${lastToolResult}' },
    ),
  )
  await m.until('approval.requested', 1)
  expect((await m.until('tool.call.denied'))[0]?.payload).toMatchObject({ rule: 'plan_mode' })
  await m.runtime.decide(m.state(id), m.state(id).asks?.[0] as never, {
    decision: { verdict: 'allow', scope: 'once' },
    by: asker('person'),
  })
  await m.until('approval.requested', 2)
  expect(readFileSync(join(m.workspace, 'new.txt'), 'utf8')).toBe('x')
  const answer = (answers?: Record<string, string>) =>
    m.runtime.decide(m.state(id), m.state(id).asks?.[0] as never, {
      decision: { verdict: 'allow', scope: 'once', ...(answers && { answers }) },
      by: asker('person'),
    })
  for (const answers of [undefined, { '*': 'B' }, { '1': 'B' }])
    await expect(answer(answers)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/When\?/),
    })
  expect(m.state(id).asks).toHaveLength(1)
  await answer({ '1': 'B', Time: 'today' })
  const [end] = await m.until('agent.completed')
  expect(end?.payload.output).toMatchObject({
    type: 'patch',
    text: expect.stringMatching(/→ B[\s\S]*When\?\n→ today/),
  })
})

test('[MUS-261] the blackboard is shared, and who writes from an older version is told', async () => {
  const m = await ownAgents()
  const id = await m.open()
  const put = (more: object) => call('Blackboard', { operation: 'put', id: 'port', type: 'fact', ...more })
  await m.say(
    id,
    script(
      put({ content: 80 }),
      put({ content: 81, version: 1 }),
      put({ content: 82, version: 1 }),
      put({ content: 83 }),
      call('Blackboard', { operation: 'list' }),
      {
        text: '${lastToolResult}',
      },
    ),
  )
  const [end] = await m.until('agent.completed')
  expect(end?.payload.output).toMatchObject({
    text: expect.stringMatching(/port \(fact, version 2, by lead\): 81/),
  })
  const updates = await m.until('blackboard.item.updated', 3)
  expect(updates.map(({ payload }) => payload.conflict ?? false)).toEqual([false, true, true])
})

test('[COL-7, MUS-262] a type whose file appears while a run is under way is none for that run', async () => {
  const m = await ownAgents()
  const id = await m.open()
  const delegate = call('Task', { subagent_type: 'fresh', prompt: script({ text: 'here' }) })
  await m.say(id, script(call('Bash', { command: 'sleep 1' }), delegate, { text: 'done' }))
  await m.until('tool.call.started')
  m.agents.push({
    ...(m.agents.find(({ name }) => name === 'worker') as (typeof m.agents)[0]),
    name: 'fresh',
  })
  await m.until('agent.completed')
  expect((await m.until('tool.call.denied'))[0]?.payload).toMatchObject({ tool: 'Task', gate: 'delegation' })
  // From the next run on it is a definition like any other.
  await m.say(id, script(delegate, { text: 'done' }))
  const spawned = await m.until('agent.spawned', 3)
  expect(spawned.map(({ payload }) => payload.agentId)).toEqual(['lead', 'lead', 'fresh'])
})

test('[MUS-262] an agent file that is changed while its run is under way opens no gate of it', async () => {
  const m = await ownAgents()
  const search = m.agents.find(({ name }) => name === 'search')
  const at = m.agents.indexOf(search as never)
  m.agents[0] = { ...(m.agents[0] as never as object), tools: ['Bash', 'Read'] } as never
  const id = await m.open()
  await m.say(
    id,
    script(call('Bash', { command: 'sleep 1' }), call('Write', { file_path: 'x.txt', content: 'x' }), {
      text: 'done',
    }),
  )
  await m.until('tool.call.started')
  m.agents[0] = { ...(m.agents[0] as never as object), tools: ['*'] } as never
  m.agents.splice(at, 1)
  await m.until('agent.completed')
  expect((await m.until('tool.call.denied'))[0]?.payload).toMatchObject({ tool: 'Write', gate: 'tool' })
})
