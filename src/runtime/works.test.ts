import { expect, test } from 'vitest'
import { call, definition, ownAgents, script } from '../../test/support/own-agents.ts'
import { ids } from '../../test/support/temp-engine.ts'
import { derivedSpan } from '../core/session-log/derived-ids.ts'
import { draftOf } from '../engine/sessions/drafts.ts'
import { FlowStopped } from '../ports/durable.ts'
import type { Work } from '../ports/workers.ts'

const agents = () => [
  definition('developer', { kind: 'subagent', policy: { allow: ['Patch'], delegateTargets: 'any' } }),
]

async function bed(folder?: string) {
  const own = await ownAgents({ agents: agents(), ...(folder && { folder }) })
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
    scope: [],
    timeoutMs: 60_000,
    isAgain: false,
    ...more,
  })
  return { ...own, begin, work }
}
const never = new AbortController().signal

test('[MUS-276] an agent of our own does the work of a workflow as a run of its session, with its limits', async () => {
  const { runtime, begin, work, events } = await bed()
  const root = await begin()
  const prompt = script(
    call('Write', { file_path: 'out/b.txt', content: 'b' }),
    call('Write', { file_path: 'src/a.txt', content: 'a' }),
    call('Task', { subagent_type: 'developer', prompt: 'help me' }),
    { text: 'Done.', usage: { input: 5, output: 2 } },
  )
  const end = await runtime.works.run(work(root, prompt, { scope: ['src/**'] }), never)
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
    payload: { agentId: 'developer-1', tokens: end.tokens },
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
  const end = await runtime.works.run(work(await begin(), prompt, { refuse }), never)
  expect(asked).toEqual(['no JSON'])
  expect(end).toMatchObject({ status: 'completed' })
  expect(end.text).not.toBe('no JSON')
})

test('[MUS-276] work that takes too long is ended and says what was done', async () => {
  const { runtime, begin, work, events } = await bed()
  const prompt = script(
    { text: 'First.', ...call('Write', { file_path: 'a', content: 'a' }) },
    { hang: true },
  )
  const end = await runtime.works.run(work(await begin(), prompt, { timeoutMs: 600 }), never)
  expect(end).toMatchObject({ status: 'timeout', text: 'First.', reason: 'it took longer than 0.01 min' })
  expect((await events()).filter(({ type }) => type === 'agent.cancelled')).toHaveLength(1)
})

test('[MUS-276] after a crash the same run goes on: no call is made again, and its end is found', async () => {
  const first = await bed()
  const root = await first.begin()
  const prompt = script(
    call('Bash', { command: 'echo once >> log.txt' }),
    { text: 'Thinking.', chunkMs: 400, ...call('Bash', { command: 'echo twice >> log.txt' }) },
    { text: 'Done.' },
  )
  const running = first.runtime.works.run(first.work(root, prompt), never).catch(() => {})
  await first.until('tool.call.completed')
  await first.abandon()
  await running
  const second = await bed(first.folder)
  const end = await second.runtime.works.run(second.work(root, prompt, { isAgain: true }), never)
  expect(end).toMatchObject({ status: 'completed', text: 'Done.' })
  const all = await second.events()
  expect(all.filter(({ type }) => type === 'agent.spawned')).toHaveLength(1)
  expect(all.filter(({ type }) => type === 'agent.completed')).toHaveLength(1)
  expect(all.filter(({ type }) => type === 'tool.call.completed')).toHaveLength(2)
  // Its end was not taken note of before the next crash.
  const again = await second.runtime.works.run(second.work(root, prompt, { isAgain: true }), never)
  expect(again).toEqual({ ...end, durationMs: expect.any(Number) })
  expect((await second.events()).filter(({ type }) => type === 'agent.spawned')).toHaveLength(1)
})

test('[MUS-276] a workflow that stops for the daemon leaves its runs open; one that is cancelled ends them', async () => {
  const m = await bed()
  const { runtime, begin, work, events } = m
  for (const how of ['daemon', 'cancelled'] as const) {
    const stop = new AbortController()
    const spanId = derivedSpan(how)
    const running = runtime.works.run(work(await begin(), script({ hang: true }), { spanId }), stop.signal)
    await m.until('llm.request.started', how === 'daemon' ? 1 : 2)
    stop.abort(new FlowStopped(how, 'me', 'enough'))
    await expect(running).rejects.toThrow('enough')
    const ends = (await events()).filter(
      (event) => event.spanId === spanId && /cancelled|failed/.test(event.type),
    )
    expect(ends.map(({ type }) => type)).toEqual(how === 'daemon' ? [] : ['agent.cancelled'])
  }
})
