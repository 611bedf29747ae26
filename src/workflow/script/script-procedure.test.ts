import { expect, test } from 'vitest'
import { leapingClock } from '../../../test/support/leaping-clock.ts'
import { openScriptBed, personAt, type Saying, scriptInput } from '../../../test/support/script-bed.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import type { AgentEvent, PayloadOf } from '../../contract/event.ts'

const phases = (names: string[]) => ({ name: 'a', description: 'what it does', phases: names })
const payloads = <T extends AgentEvent['type']>(events: readonly AgentEvent[], type: T) =>
  events.flatMap((event) => (event.type === type ? [event.payload as PayloadOf<T>] : []))
const vote = (verdict: string) => JSON.stringify({ verdict, evidence: `saw ${verdict}` })

test('[OBS-36] [OBS-37] nothing runs before a person has approved what is shown of the script', async () => {
  const { bed, run, asked, types } = await openScriptBed(() => 'done')
  const input = scriptInput(`await phase('find'); return agent('x')`, {
    meta: {
      ...phases(['find']),
      tools: ['Read'],
      writes: ['docs/**'],
      estimate: { agents: 3, tokens: 5000 },
    },
    limits: { concurrency: 2, agents: 9, tokens: 9000 },
    approvedBy: undefined,
  })
  const running = run(input)
  while (!(await types()).includes('approval.requested'))
    await systemClock.sleep(5, new AbortController().signal)
  await systemClock.sleep(300, new AbortController().signal)
  expect(asked).toEqual([])
  expect(await types()).not.toContain('workflow.phase.started')
  const [card] = payloads(await bed.events(), 'approval.requested')
  expect(card).toMatchObject({
    subject: 'workflow',
    action: 'Run the workflow a: what it does',
    risk: 'high',
  })
  for (const words of [
    'find',
    'about 3, at most 9, 2 at a time',
    'about 5000, at most 9000',
    'Read',
    'docs/**',
  ])
    expect(card?.reason).toContain(words)
  using _person = personAt(bed, () => ({ verdict: 'allow', scope: 'once' }))
  expect(await running).toBe('done')
  const events = await bed.events()
  expect(payloads(events, 'workflow.created')).toEqual([
    {
      workflowId: 'w',
      name: 'a',
      script: input.source.files['a.ts'],
      phases: ['find'],
      estimatedTokens: 5000,
    },
  ])
  expect(payloads(events, 'workflow.approved')).toMatchObject([{ workflowId: 'w', approvedBy: 'anna' }])
  const order = await types()
  expect(order.indexOf('workflow.approved')).toBeLessThan(order.indexOf('workflow.phase.started'))
  expect(asked[0]?.scopes[0]).toEqual(['docs/**'])
})

test('[OBS-37][MUS-368] a script that is not approved runs nothing and is rejected', async () => {
  const { bed, run, asked, types } = await openScriptBed(() => 'done')
  using _person = personAt(bed, () => ({ verdict: 'deny', reason: 'too dear' }))
  await expect(run(scriptInput(`return agent('x')`, { approvedBy: undefined }))).rejects.toThrow('too dear')
  expect(asked).toEqual([])
  expect(await types()).not.toContain('workflow.approved')
  expect((await bed.events()).at(-1)).toMatchObject({
    type: 'workflow.failed',
    payload: { outcome: 'rejected', reason: 'it was not approved: too dear' },
  })
})

test('[OBS-38] [OBS-39] [OBS-44] [OBS-47] [OBS-49] phases, claims and sums are told at their place in the tree', async () => {
  const { bed, run, asked } = await openScriptBed(({ prompt }) =>
    prompt.includes('refute') ? vote('supported') : prompt,
  )
  const input = scriptInput(
    `const found = await phase('find', () => parallel([1, 2, 3].map((n) => () => agent('look ' + n))))
    await phase('judge', async () => (await verify(found, { votes: 2 })).filter((one) => one.verdict === 'supported'))
    await phase('end')
    log('nearly', { done: true })
    return checkpoint({ found })`,
    { meta: phases(['find', 'judge', 'end']), args: ['a', 'b'] },
  )
  expect(await run(input)).toEqual({ found: ['look 1', 'look 2', 'look 3'] })
  const events = await bed.events()
  const of = (type: AgentEvent['type']) => events.filter((event) => event.type === type)
  expect(payloads(events, 'workflow.phase.started')).toEqual([
    { workflowId: 'w', phase: 'find', inputCount: 2 },
    { workflowId: 'w', phase: 'judge', inputCount: 3 },
    { workflowId: 'w', phase: 'end', inputCount: 3 },
  ])
  expect(payloads(events, 'workflow.phase.completed')).toEqual([
    { workflowId: 'w', phase: 'find', outputCount: 3, tokens: 30 },
    { workflowId: 'w', phase: 'judge', outputCount: 3, tokens: 60 },
    { workflowId: 'w', phase: 'end', outputCount: 1, tokens: 0 },
  ])
  expect(payloads(events, 'workflow.finalized')).toMatchObject([{ totalTokens: 90, totalAgents: 9 }])
  expect(payloads(events, 'progress.checkpoint')).toEqual([{ message: 'nearly {"done":true}', number: 1 }])
  const [created, approved] = [of('workflow.created')[0], of('workflow.approved')[0]]
  expect(approved?.parentSpanId).toBe(created?.spanId)
  for (const phase of of('workflow.phase.started')) expect(phase.parentSpanId).toBe(approved?.spanId)
  const [find, judge] = of('workflow.phase.started')
  // Each agent works below its task, and the task hangs in the phase.
  const tasks = of('agent.task.assigned')
  expect(tasks.slice(0, 3).map(({ parentSpanId, phase }) => [parentSpanId, phase])).toEqual(
    Array.from({ length: 3 }, () => [find?.spanId, 'find']),
  )
  expect(asked.map(({ parentSpanId }) => parentSpanId).toSorted()).toEqual(
    tasks.map(({ spanId }) => spanId).toSorted(),
  )
  expect(of('task.completed')).toHaveLength(9)
  expect(of('claim.verified')).toHaveLength(6)
  for (const claim of of('claim.verified')) {
    expect(claim).toMatchObject({ parentSpanId: judge?.spanId, workflowId: 'w', phase: 'judge' })
  }
  expect(
    events.filter(({ type, workflowId }) => /^(workflow|claim)/.test(type) && workflowId !== 'w'),
  ).toEqual([])
  const state = events.find(
    (event) => event.type === 'workflow.checkpoint.saved' && event.payload.step === 'checkpoint#1',
  )
  expect(state?.payload).toMatchObject({
    phase: 'end',
    stateBytes: JSON.stringify({ value: { found: ['look 1', 'look 2', 'look 3'] } }).length,
  })
})

test('[OBS-42] [OBS-43] a claim is supported, refuted or inconclusive, by most of those who tried to refute it', async () => {
  const answers: Record<string, string[]> = {
    sound: ['supported', 'refuted', 'supported'],
    wrong: ['refuted', 'refuted', 'supported'],
    unclear: ['supported', 'refuted', 'inconclusive'],
  }
  const { bed, run, asked } = await openScriptBed(({ prompt, name }) => {
    const claim = Object.keys(answers).find((word) => prompt.includes(`it is ${word}`))
    if (claim === undefined)
      return { status: 'failed', text: '', reason: 'no model', tokens: 1, durationMs: 1 }
    return vote(answers[claim]?.[Number(name.at(-1)) - 1] ?? '')
  })
  const said = await run(
    scriptInput(`
    const all = await verify([{ id: 'F1', claim: 'it is sound', by: 'finder', evidence: { line: 3 } }, 'it is wrong', 'it is unclear'], { votes: 3 })
    const [none] = await verify(['nobody answers'])
    return [...all.map(({ id, verdict }) => [id, verdict]), none.verdict]`),
  )
  expect(said).toEqual([
    ['F1', 'supported'],
    ['verify#1[1]', 'refuted'],
    ['verify#1[2]', 'inconclusive'],
    'inconclusive',
  ])
  expect(asked[0]?.prompt).toContain('"line": 3')
  const claims = payloads(await bed.events(), 'claim.verified')
  expect(claims).toHaveLength(10)
  expect(claims.find(({ verifierAgentId }) => verifierAgentId === 'verify#1[0]/vote#2')).toEqual({
    findingId: 'F1',
    verifierAgentId: 'verify#1[0]/vote#2',
    verdict: 'refuted',
    evidence: 'saw refuted',
    sourceAgentId: 'finder',
  })
  expect(claims.at(-1)).toMatchObject({ verdict: 'inconclusive' })
})

test('[MUS-279] an answer fits its schema or is asked for once more; what fails is the script’s to catch', async () => {
  const { run, asked } = await openScriptBed(({ prompt, name }) => {
    if (name.startsWith('list')) return '{"value":[1,2]}'
    if (name.startsWith('late'))
      return { status: 'timeout', text: '', reason: 'too long', tokens: 1, durationMs: 1 }
    if (prompt.startsWith('Your answer could not be used'))
      return name.startsWith('mends') ? '{"n":1,"x":null}' : '{}'
    return 'no json'
  })
  const schema = `{ type: 'object', properties: { n: { type: 'number' }, x: { type: ['string', 'null'] } }, required: ['n', 'x'] }`
  const caught = `.catch((error) => [error.name, error.code, error.path])`
  const said = await run(
    scriptInput(`return [
      await agent('a', { name: 'mends', schema: ${schema}, agent: 'explore', cli: 'claude', model: 'm', timeoutMs: 5 }),
      await agent('b', { name: 'list', schema: { type: 'array', items: { type: 'number' } } }),
      await agent('c', { name: 'never', schema: ${schema} })${caught},
      await agent('d', { name: 'late' })${caught},
      await agent('e', { schema: { type: 'none such' } })${caught},
      await agent('f', { scope: ['src/a.ts'] })${caught},
      await agent('g', { nothing: 1 })${caught},
    ]`),
  )
  expect(said).toEqual([
    { n: 1, x: null },
    [1, 2],
    ['ScriptError', 'invalid', 'agent#3'],
    ['ScriptError', 'timeout', 'agent#4'],
    ['ScriptError', 'invalid', 'agent#5'],
    ['ScriptError', 'denied', 'agent#6'],
    ['ScriptError', 'invalid', 'agent#7'],
  ])
  expect(asked[0]).toMatchObject({
    agent: 'explore',
    cli: 'claude',
    model: 'm',
    timeoutMs: 5,
    workspace: '/work',
  })
  expect(asked[3]).toMatchObject({ agent: 'general-purpose', cli: 'own', name: 'late (agent#4)' })
  expect(asked[3]?.scopes[0]).toEqual([':nothing:'])
})

test('[MUS-279] agents change no more than what was approved', async () => {
  const { run, asked } = await openScriptBed(() => 'x')
  const inside = ['src/**', 'src/a/*.ts', 'src/a.ts', 'README.md']
  const outside = ['**', 'src/../x', 'test/a.ts', 'README.*', 'src/{a,../../b}', 'sr*/**']
  const said = await run(
    scriptInput(
      `return Promise.all(args.map((glob) => agent('x', { scope: [glob] }).then(() => 'yes', (error) => error.code)))`,
      {
        args: [...inside, ...outside],
        meta: { ...phases([]), writes: ['src/**', 'README.md'] },
      },
    ),
  )
  expect(said).toEqual([...inside.map(() => 'yes'), ...outside.map(() => 'denied')])
  expect(asked.flatMap(({ scopes }) => scopes.flat())).toEqual(inside)
})

test('[MUS-279] phases are those of meta, one after the other', async () => {
  const { run } = await openScriptBed(() => 'x')
  const said = await run(
    scriptInput(
      `const caught = (error) => error.message
      return [
        await phase('other').catch(caught),
        await phase('one', () => phase('two').catch(caught)),
        ...(await parallel([() => phase('two').catch(caught)])),
      ]`,
      { meta: phases(['one', 'two']) },
    ),
  )
  expect(said).toEqual([
    expect.stringContaining('none of the phases'),
    expect.stringContaining('phase one has not ended'),
    expect.stringContaining('cannot start inside parallel'),
  ])
})

test('[MUS-279] a person is asked in the middle of a script, and it goes on with the answer', async () => {
  const { bed, run } = await openScriptBed(() => 'x')
  using _person = personAt(bed, (action) =>
    action === 'Which?'
      ? { verdict: 'allow', scope: 'once', answers: { choice: 'blue' } }
      : { verdict: 'deny', reason: 'never' },
  )
  const text = `return [await approve('Which?', { options: ['red', 'blue'] }), await approve('Delete all?')]`
  expect(await run(scriptInput(text))).toEqual([
    { approved: true, answer: 'blue' },
    { approved: false, answer: 'never' },
  ])
  expect(payloads(await bed.events(), 'approval.requested')[0]).toMatchObject({ options: ['red', 'blue'] })
})

test('[MUS-279] no more agents work at once than may; 200 items flow through a pipeline', async () => {
  const { run, asked, most, bed } = await openScriptBed(async ({ prompt }) => {
    await systemClock.sleep(1, new AbortController().signal)
    return prompt
  })
  const items = Array.from({ length: 200 }, (_, i) => i)
  const said = await run(
    scriptInput(
      `return pipeline(args, (n) => agent('a' + n), (text) => agent('b' + text), (text) => text + '!')`,
      {
        args: items,
        limits: { concurrency: 3, agents: 400 },
      },
    ),
  )
  expect(said).toEqual(items.map((n) => `ba${n}!`))
  expect(asked).toHaveLength(400)
  expect(most.atOnce).toBe(3)
  expect(payloads(await bed.events(), 'workflow.finalized')).toMatchObject([
    { totalAgents: 400, totalTokens: 4000 },
  ])
})

test.each([
  [
    'agents',
    { agents: 3, tokens: 25 },
    { budget: 'iterations', used: 4, limit: 3, scope: 'agents', action: 'stopped' },
  ],
  ['minutes', { minutes: 20 }, { budget: 'time', used: 20, limit: 20, action: 'stopped' }],
])(
  '[MUS-279] [MUS-175] over its limit of %s a run is stopped with what works for it, and keeps what was done',
  async (_name, limits, exceeded) => {
    let stopped = 0
    const clock = leapingClock()
    const say: Saying = ({ prompt }, signal) => {
      if (prompt !== 'waits') return prompt
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          stopped += 1
          reject(signal.reason as Error)
        })
      })
    }
    const { bed, run, types } = await openScriptBed(say, () => null, clock)
    const input = scriptInput(
      `await phase('one')
    await checkpoint({ at: 1 })
    const waits = agent('waits').catch(() => 'caught')
    await agent('a'); await agent('b')
    if (budget.remaining.tokens !== null) log(budget.remaining)
    ${'minutes' in limits ? 'await waits' : `await agent('c'); await agent('d')`}
    return 'the end'`,
      { limits: { concurrency: 4, agents: 100, ...limits }, meta: phases(['one']) },
    )
    const over = expect(run(input)).rejects.toMatchObject({ code: 'limited' })
    if ('minutes' in limits) {
      const answered = async () => (await types()).filter((type) => type === 'task.completed').length
      await expect.poll(answered).toBe(2)
      clock.leap(limits.minutes * 60_000)
    }
    await over
    expect(stopped).toBe(1)
    const events = await bed.events()
    expect(payloads(events, 'budget.exceeded')).toEqual([exceeded])
    expect(payloads(events, 'workflow.failed')).toMatchObject([
      { partial: { checkpoint: { at: 1 }, answers: { 'agent#2': 'a', 'agent#3': 'b' } } },
    ])
    expect((await types()).filter((type) => type === 'workflow.phase.failed')).toHaveLength(1)
    if ('tokens' in limits)
      expect(payloads(events, 'progress.checkpoint')).toEqual([
        { message: '{"tokens":5,"agents":0,"usd":null}', number: 1 },
      ])
  },
)

test('[MUS-279] a script sees what is left of its money as it is spent, also in branches; null without a limit', async () => {
  let calls = 0
  const costs = [null, null, 0.5, 0.75, 2]
  const opened = () =>
    openScriptBed(
      ({ prompt }) => {
        calls += 1
        return prompt
      },
      () => costs[calls] ?? null,
    )
  const text = `const seen = [budget.remaining.usd]
    for (const one of ['a', 'b']) { await agent(one); seen.push(budget.remaining.usd) }
    await parallel([() => agent('c')])
    seen.push(budget.remaining.usd)
    await agent('d')
    return [...seen, budget.remaining.usd]`
  const limits = { concurrency: 4, agents: 100, usd: 1.5 }
  expect(await (await opened()).run(scriptInput(text, { cli: 'claude', limits }))).toEqual([
    1.5, 1.5, 1, 0.75, 0,
  ])
  calls = 0
  expect(await (await opened()).run(scriptInput(text))).toEqual([null, null, null, null, null])
})

test('[MUS-279] a script that fails has failed with its line, and what it left is stopped', async () => {
  let stopped = 0
  const { bed, run } = await openScriptBed((_work, signal) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        stopped += 1
        reject(signal.reason as Error)
      })
    })
  })
  await expect(
    run(scriptInput(`agent('left')\nawait checkpoint(1)\nthrow new Error('boom')`)),
  ).rejects.toThrow('a.ts:4: boom')
  expect(stopped).toBe(1)
  expect(payloads(await bed.events(), 'workflow.failed')).toMatchObject([{ error: 'a.ts:4: boom' }])
})

test('[MUS-292] what a person agreed to run without walls is that text and no other', async () => {
  const other = scriptInput(`return 'another text'`)
  const { run, asked, types } = await openScriptBed(() => 'done')
  await expect(run(scriptInput(`return agent('x')`, { unsafe: other.unsafe }))).rejects.toMatchObject({
    code: 'denied',
    message: expect.stringContaining('add --unsafe'),
  })
  expect(asked).toEqual([])
  expect(await types()).toContain('workflow.failed')
})

test('[OBS-41] what an answer is held to has one short name for one schema, and text is text', async () => {
  const { run, asked } = await openScriptBed(({ prompt }) =>
    prompt.includes('refute') ? vote('supported') : '{ "n": 1 }',
  )
  await run(
    scriptInput(
      `const schema = { type: 'object', title: 'a number', properties: { n: { type: 'number' } } }
      await agent('a', { schema })
      await agent('b', { schema })
      await agent('c', { schema: { ...schema, required: ['n'] } })
      await agent('d', { schema: { ...schema, title: undefined } })
      await agent('e')
      return verify([{ id: 'x', text: 'y' }], { votes: 1 })`,
    ),
  )
  const names = asked.map(({ resultSchema }) => resultSchema)
  expect(names[0]).toMatch(/^schema:a-number@[0-9a-f]{12}$/)
  expect(names[1]).toBe(names[0])
  expect(names[2]).toMatch(/^schema:a-number@/)
  expect(names[2]).not.toBe(names[0])
  expect(names[3]).toMatch(/^schema:[0-9a-f]{12}$/)
  expect(names.slice(4)).toEqual(['text', expect.stringMatching(/^schema:vote@/)])
})

test('[MUS-366] an agent that is given an input answers by its contract: messages, verdicts and rounds are recorded as in a crew', async () => {
  const developed = (status: string) => JSON.stringify({ status, summary: `It is ${status}.` })
  const judged = (verdict: string) => JSON.stringify({ verdict, summary: 's', findings: [] })
  const { bed, run, asked } = await openScriptBed(({ prompt }) => {
    if (prompt.includes('review_scope')) return judged(prompt.includes('again') ? 'approved' : 'rejected')
    return prompt.includes('half') ? developed('partial') : developed('completed')
  })
  const input = scriptInput(
    `const task = (task_id, task_description) => ({ task_id, task_description, constraints: { scope: ['src/**'] } })
    const [whole, half] = await parallel([
      () => agent(task('T1', 'whole'), { agent: 'developer' }),
      () => agent('For the release: ' + JSON.stringify(task('T2', 'half')), { agent: 'developer' }),
    ])
    const first = await agent({ task_id: 'T1', review_scope: { files: [] } }, { agent: 'reviewer' })
    const more = await agent(task('T2', 'the rest'), { agent: 'developer' })
    const second = await agent('Look again: ' + JSON.stringify({ task_id: 'T1', review_scope: { files: [] } }), { agent: 'reviewer' })
    const broken = await agent({ task_id: 'T3', task_description: '' }).then(() => 'begun', (error) => error.message)
    const outside = await agent({ ...task('T4', 'x'), constraints: { scope: ['docs/**'] } }).then(() => 'begun', (error) => error.code)
    return [[whole, half, more].map((one) => one.status), [first, second].map((one) => one.verdict), broken, outside]`,
    { meta: { ...phases([]), writes: ['src/**'] } },
  )
  expect(await run(input)).toEqual([
    ['completed', 'partial', 'completed'],
    ['rejected', 'approved'],
    expect.stringContaining('task_description: say what is to be done'),
    'denied',
  ])
  expect(asked.map(({ scopes, timeoutMs }) => [scopes, timeoutMs / 60_000])).toContainEqual([
    [['src/**'], ['src/**']],
    10,
  ])
  const events = await bed.events()
  const messages = payloads(events, 'agent.message.created')
  expect(messages.map(({ sequenceNumber }) => sequenceNumber)).toEqual(messages.map((_, i) => i + 1))
  expect(messages.filter(({ messageType }) => messageType === 'review_result')).toHaveLength(2)
  expect(
    payloads(events, 'task.completed').map(({ output }) => (output as { task_id: string }).task_id),
  ).toEqual(expect.arrayContaining(['T1', 'T2', 'T2-2']))
  expect(payloads(events, 'loop.round.completed')).toMatchObject([
    { round: 1, verdict: 'rejected' },
    { round: 2, verdict: 'approved' },
  ])
})
