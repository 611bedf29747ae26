import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { asker } from '../../test/support/asker.ts'
import { leapingClock } from '../../test/support/leaping-clock.ts'
import { call, definition, ownAgents, script } from '../../test/support/own-agents.ts'
import { ids } from '../../test/support/temp-engine.ts'
import { systemClock } from '../adapters/system/clock.ts'
import type { AgentDefinition } from '../contract/agent-definition.ts'
import { derivedSpan } from '../contract/derived-ids.ts'
import type { AgentEvent } from '../contract/event.ts'
import { draftOf } from '../engine/sessions/drafts.ts'
import { FlowStopped } from '../ports/durable.ts'
import type { Work } from '../ports/workers.ts'
import { Recent } from './workflow-agents.ts'

const agents = () => [
  definition('developer', { kind: 'subagent', policy: { allow: ['Patch'], delegateTargets: 'any' } }),
]

async function bed(folder?: string, prices: Record<string, object> = {}) {
  const clock = leapingClock()
  const own = await ownAgents({ agents: agents(), clock, prices, ...(folder && { folder }) })
  const begin = async () => {
    const root = {
      sessionId: ids.session(),
      traceId: ids.trace(),
      runId: ids.run(),
      spanId: ids.span(),
      actor: 'crew',
      workflowId: 'w',
      phase: 'delegate',
    }
    await own.engine.perform([draftOf(root, 'session.started', { workingDir: own.workspace })])
    return root
  }
  const work = (root: Work['root'], prompt: string, more: Partial<Work> = {}): Work => ({
    root,
    spanId: derivedSpan('w/task-1'),
    parentSpanId: root.spanId,
    taskId: 'task-1',
    agent: 'developer',
    name: 'developer-1',
    cli: 'own',
    prompt,
    workspace: own.workspace,
    scopes: [],
    timeoutMs: 60_000,
    resultSchema: 'reply:developer',
    isAgain: false,
    ...more,
  })
  return { ...own, clock, begin, work }
}
const never = new AbortController().signal

test('[MUS-276] [OBS-41] a built-in agent does the work of a workflow as a run of its session, with its limits', async () => {
  const { runtime, begin, work, events } = await bed()
  const root = await begin()
  const prompt = script(
    call('Write', { file_path: 'out/b.txt', content: 'b' }),
    call('Write', { file_path: 'src/a.txt', content: 'a' }),
    call('Task', { subagent_type: 'developer', prompt: 'help me' }),
    { text: 'Done.', usage: { input: 5, output: 2 } },
  )
  const end = await runtime.workflowAgents.run(work(root, prompt, { scopes: [['src/**']] }), never)
  expect(end).toMatchObject({ status: 'completed', text: 'Done.' })
  const all = await events()
  expect(all.find(({ type }) => type === 'agent.spawned')).toMatchObject({
    workflowId: 'w',
    phase: 'delegate',
    taskId: 'task-1',
    parentRunId: root.runId,
    payload: { agentId: 'developer-1', agentType: 'developer', agentTask: prompt },
  })
  expect(all.find(({ type }) => type === 'agent.completed')).toMatchObject({
    workflowId: 'w',
    phase: 'delegate',
    payload: {
      agentId: 'developer-1',
      tokens: end.tokens,
      durationMs: expect.any(Number),
      resultSchema: 'reply:developer',
    },
  })
  expect(all.flatMap((event) => (event.type === 'tool.call.denied' ? [event.payload.gate] : []))).toEqual([
    'scope',
    'policy',
  ])
})

test('[MUS-276] words that cannot be taken are refused once, with the reason', async () => {
  const { runtime, begin, work } = await bed()
  const prompt = script({ text: 'no JSON' }, { text: '${lastUserText}' }, { text: 'never asked' })
  const asked: string[] = []
  const refuse = (text: string) => {
    asked.push(text)
    return text.startsWith('{') ? undefined : 'answer with JSON'
  }
  const end = await runtime.workflowAgents.run(work(await begin(), prompt, { refuse }), never)
  expect(asked).toEqual(['no JSON'])
  expect(end).toMatchObject({ status: 'completed' })
  expect(end.text).not.toBe('no JSON')
})

test('[MUS-276] work that takes too long is ended and says what was done', async () => {
  const m = await bed()
  const { runtime, begin, work, events, clock } = m
  const prompt = script(
    { text: 'First.', ...call('Write', { file_path: 'a', content: 'a' }) },
    { hang: true },
  )
  const running = runtime.workflowAgents.run(work(await begin(), prompt, { timeoutMs: 600_000 }), never)
  await m.until('llm.request.started', 2)
  clock.leap(600_000)
  const end = await running
  expect(end).toMatchObject({ status: 'timeout', text: 'First.', reason: 'it took longer than 10 min' })
  expect((await events()).filter(({ type }) => type === 'agent.cancelled')).toHaveLength(1)
})

/** A run that a crash ended after its first call, and the daemon that comes after it. */
async function cutOff(prompt: string) {
  const first = await bed()
  const root = await first.begin()
  const running = first.runtime.workflowAgents.run(first.work(root, prompt), never).catch(() => {})
  await first.until('tool.call.completed')
  await first.abandon()
  await running
  return { root, second: await bed(first.folder) }
}

test('[MUS-276] after a crash the same run goes on: no call is made again, and its end is found', async () => {
  const prompt = script(
    call('Bash', { command: 'echo once >> log.txt' }),
    { text: 'Thinking.', chunkMs: 400, ...call('Bash', { command: 'echo twice >> log.txt' }) },
    { text: 'Done.' },
  )
  const { root, second } = await cutOff(prompt)
  const end = await second.runtime.workflowAgents.run(second.work(root, prompt, { isAgain: true }), never)
  expect(end).toMatchObject({ status: 'completed', text: 'Done.' })
  const all = await second.events()
  expect(all.filter(({ type }) => type === 'agent.spawned')).toHaveLength(1)
  expect(all.filter(({ type }) => type === 'agent.completed')).toHaveLength(1)
  expect(all.filter(({ type }) => type === 'tool.call.completed')).toHaveLength(2)
  // Its end was not taken note of before the next crash.
  const again = await second.runtime.workflowAgents.run(second.work(root, prompt, { isAgain: true }), never)
  expect(again).toEqual({ ...end, durationMs: expect.any(Number) })
  expect((await second.events()).filter(({ type }) => type === 'agent.spawned')).toHaveLength(1)
})

const earlier = (event: AgentEvent): AgentEvent => ({
  ...event,
  timestamp: new Date(Date.parse(event.timestamp) - 3_600_000).toISOString(),
})

test('[COL-67] the time of a built-in agent does not run while no daemon is there', async () => {
  const prompt = script(
    call('Bash', { command: 'true' }),
    { text: 'Thinking.', chunkMs: 400, ...call('Bash', { command: 'true' }) },
    { text: 'Done.' },
  )
  const { root, second } = await cutOff(prompt)
  second.change(earlier)
  const end = await second.runtime.workflowAgents.run(second.work(root, prompt, { isAgain: true }), never)
  expect(end).toMatchObject({ status: 'completed', text: 'Done.' })
})

test('[COL-67] the time of a built-in agent does not run while it waits for a person', async () => {
  const m = await bed()
  const root = await m.begin()
  const question = {
    question: 'Which?',
    header: 'Which',
    options: [
      { label: 'a', description: 'one' },
      { label: 'b', description: 'other' },
    ],
    multiSelect: false,
  }
  const prompt = script(call('AskUserQuestion', { questions: [question] }), { text: 'Done.' })
  const running = m.runtime.workflowAgents.run(m.work(root, prompt, { timeoutMs: 600_000 }), never)
  running.catch(() => {})
  await m.until('approval.requested')
  for (let second = 0; second < 900; second++) {
    m.clock.leap(1000)
    await setImmediate()
  }
  await m.runtime.decide(m.state(root.sessionId), m.state(root.sessionId).asks?.[0] as never, {
    decision: { verdict: 'allow', scope: 'once', answers: { 'Which?': 'a' } } as never,
    by: asker('person'),
  })
  expect(await running).toMatchObject({ status: 'completed', text: 'Done.' })
})

test('[MUS-276] who was ended for its time, or by its budget, is known again when nobody took note of it', async () => {
  const m = await bed()
  const slow = script({ text: 'First.', ...call('Write', { file_path: 'a', content: 'a' }) }, { hang: true })
  const late = m.work(await m.begin(), slow, { timeoutMs: 600_000 })
  const running = m.runtime.workflowAgents.run(late, never)
  await m.until('llm.request.started', 2)
  m.clock.leap(600_000)
  const end = await running
  const again = await m.runtime.workflowAgents.run({ ...late, isAgain: true }, never)
  expect(again).toEqual({ ...end, status: 'timeout', durationMs: expect.any(Number) })

  m.agents[0] = { ...(m.agents[0] as AgentDefinition), budget: { tokens: 1 } }
  m.clock.leap(1100)
  const poor = m.work(await m.begin(), script(call('Bash', { command: 'true' }), { text: 'Done.' }), {
    spanId: derivedSpan('w/task-2'),
  })
  const spent = await m.runtime.workflowAgents.run(poor, never)
  expect(spent).toMatchObject({ status: 'failed', isSpent: true })
  expect(await m.runtime.workflowAgents.run({ ...poor, isAgain: true }, never)).toMatchObject({
    status: 'failed',
    isSpent: true,
  })
})

test('[MUS-276] a workflow that stops for the daemon leaves its runs open; one that is cancelled ends them', async () => {
  const m = await bed()
  const { runtime, begin, work, events } = m
  for (const how of ['daemon', 'cancelled'] as const) {
    const stop = new AbortController()
    const spanId = derivedSpan(how)
    const running = runtime.workflowAgents.run(
      work(await begin(), script({ hang: true }), { spanId }),
      stop.signal,
    )
    await m.until('llm.request.started', how === 'daemon' ? 1 : 2)
    stop.abort(new FlowStopped(how, asker('me'), 'enough'))
    await expect(running).rejects.toThrow('enough')
    const ends = (await events()).filter(
      (event) => event.spanId === spanId && /cancelled|failed/.test(event.type),
    )
    expect(ends.map(({ type }) => type)).toEqual(how === 'daemon' ? [] : ['agent.cancelled'])
  }
})

test('[MUS-167] a call is written down before it has any effect; one that a crash cut off is told as failed and not made again', async () => {
  const first = await bed()
  const root = await first.begin()
  const prompt = script(call('Bash', { command: 'echo once >> log.txt; sleep 3' }), {
    text: 'Done.',
  })
  const running = first.runtime.workflowAgents.run(first.work(root, prompt), never).catch(() => {})
  await first.until('tool.call.started')
  const log = join(first.workspace, 'log.txt')
  while (!existsSync(log)) await setTimeout(10)
  await first.abandon()
  await running
  const second = await bed(first.folder)
  const end = await second.runtime.workflowAgents.run(second.work(root, prompt, { isAgain: true }), never)
  expect(end.status).toBe('completed')
  expect(readFileSync(log, 'utf8')).toBe('once\n')
  // What became of it is told before the model is asked again.
  const told = (await second.events()).filter(({ type }) => /^tool\.call\.|^llm\.request\.started/.test(type))
  expect(told.map(({ type }) => type)).toEqual([
    'llm.request.started',
    'tool.call.started',
    'tool.call.failed',
    'llm.request.started',
  ])
})

test('[MUS-281] what was found a moment ago is not looked for again, what failed or is older is', async () => {
  let nowMs = 0
  const recent = new Recent<number>({ ...systemClock, monotonic: () => nowMs }, 1000)
  let looks = 0
  const look = async () => {
    looks += 1
    if (looks === 1) throw new Error('not yet')
    return looks
  }
  await expect(recent.get('a', look)).rejects.toThrow('not yet')
  expect(await recent.get('a', look)).toBe(2)
  nowMs = 999
  expect(await recent.get('a', look)).toBe(2)
  expect(await recent.get('b', look)).toBe(3)
  nowMs = 1000
  expect(await recent.get('a', look)).toBe(4)
})

test('[MUS-331] the money of a built-in agent is counted and limited to the cent, by the price of its model', async () => {
  const m = await bed(undefined, { scripted: { input: 10_000, output: 20_000 } })
  m.agents[0] = { ...(m.agents[0] as AgentDefinition), budget: { usd: 0.05 } }
  const usage = { input: 1, output: 1 }
  const steps = Array.from({ length: 5 }, () => ({ ...call('Bash', { command: 'true' }), usage }))
  const end = await m.runtime.workflowAgents.run(m.work(await m.begin(), script(...steps)), never)
  expect(end).toMatchObject({ status: 'failed', isSpent: true, reason: expect.stringContaining('$0.05') })
  const all = await m.events()
  const answers = all.filter(({ type }) => type === 'llm.request.completed')
  expect(answers.map(({ payload }) => payload)).toMatchObject([
    { costUsd: 0.03, priceList: 'settings' },
    { costUsd: 0.03, priceList: 'settings' },
  ])
  expect(all.find(({ type }) => type === 'budget.exceeded')?.payload).toMatchObject({
    budget: 'usd',
    used: 0.06,
    limit: 0.05,
  })
})

test('[MUS-330] a built-in agent whose money is limited and whose model has no price does not begin', async () => {
  const m = await bed()
  m.agents[0] = { ...(m.agents[0] as AgentDefinition), budget: { usd: 0.05 } }
  const end = await m.runtime.workflowAgents.run(m.work(await m.begin(), script({ text: 'Done.' })), never)
  expect(end).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining('no price is known for scripted'),
  })
  expect((await m.events()).some(({ type }) => type === 'llm.request.started')).toBe(false)
})

const turn = (name: string) => ({ isTurn: true, spanId: derivedSpan(name) }) as const

test('[COL-29][MUS-371] what the agent of a workflow is asked are turns of one run, and each knows those before it', async () => {
  const { runtime, begin, work, events } = await bed()
  const root = await begin()
  const ask = (prompt: string, name: string) =>
    runtime.workflowAgents.run(work(root, prompt, turn(name)), never)
  const prompt = script({ text: 'A plan.' }, { text: 'As planned.', usage: { input: 7 } })
  expect(await ask(prompt, 'one')).toMatchObject({ text: 'A plan.', isFurther: false })
  // The script is in the first prompt: its second step is played only where that is in the conversation too.
  expect(await ask('And now?', 'two')).toMatchObject({ text: 'As planned.', isFurther: true, tokens: 7 })
  const all = await events()
  expect(all.filter(({ type }) => type === 'agent.spawned' || type === 'agent.completed')).toEqual([])
  const said = all.flatMap((event) =>
    event.type === 'agent.message.created' ? [[event.runId, event.payload.messageId]] : [],
  )
  expect(said).toEqual(
    ['one', 'two'].flatMap((name) =>
      ['question', 'answer'].map((kind) => [root.runId, `${root.runId}:${kind}:${derivedSpan(name)}`]),
    ),
  )
})

test('[MUS-275] after a crash a turn that has its answer is answered by it, and one that has only its prompt continues', async () => {
  const first = await bed()
  const root = await first.begin()
  const plan = script({ text: 'A plan.' })
  await first.runtime.workflowAgents.run(first.work(root, plan, turn('one')), never)
  await first.abandon()
  const second = await bed(first.folder)
  const asked = async (m: typeof first) =>
    (await m.events()).filter(({ type }) => type === 'llm.request.completed').length
  const again = (m: typeof first, prompt: string, name: string) =>
    m.runtime.workflowAgents.run(m.work(root, prompt, { ...turn(name), isAgain: true }), never)
  expect(await again(second, plan, 'one')).toMatchObject({ text: 'A plan.', isFurther: false })
  expect(await asked(second)).toBe(1)
  const prompt = script(
    call('Bash', { command: 'echo once >> log.txt' }),
    { text: 'Thinking.', chunkMs: 400, ...call('Bash', { command: 'echo twice >> log.txt' }) },
    { text: 'Decided.' },
  )
  const cut = second.runtime.workflowAgents.run(second.work(root, prompt, turn('two')), never).catch(() => {})
  await second.until('tool.call.completed')
  await second.abandon()
  await cut
  const third = await bed(first.folder)
  const decided = { status: 'completed', text: 'Decided.', isFurther: true }
  expect(await again(third, prompt, 'two')).toMatchObject(decided)
  const done = await asked(third)
  expect(await again(third, prompt, 'two')).toMatchObject(decided)
  expect(await asked(third)).toBe(done)
  expect((await third.events()).filter(({ type }) => type === 'tool.call.completed')).toHaveLength(2)
})
