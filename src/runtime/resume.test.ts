import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { asker } from '../../test/support/asker.ts'
import { call, ownAgents, script } from '../../test/support/own-agents.ts'

const runtime = { on_restart: 'resume' }

/** Ends the daemon without a word, and opens another on the same folder. */
async function reopened(m: Awaited<ReturnType<typeof ownAgents>>) {
  await m.abandon()
  const next = await ownAgents({ folder: m.folder, runtime })
  await next.runtime.start()
  return next
}

test('[RUN-19] what a cancelled run did before it was cut off is known to the next one', async () => {
  const m = await ownAgents()
  const id = await m.open()
  const task = (prompt: string) => ({ name: 'Task', input: { subagent_type: 'worker', prompt } })
  await m.say(id, script({ tools: [task(script({ hang: true })), task(script({ text: 'one' }))] }))
  await m.until('tool.call.completed')
  await m.runtime.interrupt(id, asker('test'))
  await m.say(id, script({ text: '${lastToolResult}' }))
  const [, end] = await m.until('agent.completed', 2)
  expect(end?.payload.output).toMatchObject({ text: 'one' })
  expect(m.bugs).toEqual([])
})

test('[MUS-260] an agent that planned when Muster was stopped still only plans', async () => {
  const m = await ownAgents({ runtime })
  const id = await m.open()
  const write = call('Write', { file_path: 'new.txt', content: 'x' })
  await m.say(
    id,
    script(call('EnterPlanMode', {}), call('ExitPlanMode', { plan: 'p' }), write, { text: 'ok' }),
  )
  await m.until('approval.requested')
  const n = await reopened(m)
  await n.until('agent.completed')
  expect((await n.until('tool.call.denied'))[0]?.payload).toMatchObject({ rule: 'plan_mode', tool: 'Write' })
})

test('[MUS-49] a run that is cut off twice keeps every answer, each once', async () => {
  const m = await ownAgents({ runtime })
  const id = await m.open()
  const wait = (name: string) => call('Bash', { command: `echo ${name} >> ${name}; sleep 60` })
  await m.say(
    id,
    script(wait('a'), call('Bash', { command: 'echo between' }), wait('b'), {
      text: 'after ${lastToolResult}',
    }),
  )
  await vi.waitUntil(() => existsSync(join(m.workspace, 'a')), { timeout: 120_000 })
  const n = await reopened(m)
  await vi.waitUntil(() => existsSync(join(m.workspace, 'b')), { timeout: 120_000 })
  const o = await reopened(n)
  const [end] = await o.until('agent.completed')
  expect(end?.runId).toBe((await o.until('agent.spawned'))[0]?.runId)
  expect(end?.payload.output).toMatchObject({ text: expect.stringContaining('after It was cut off') })
  expect(end?.payload.usage?.output).toBe(
    (await o.until('llm.request.completed')).reduce((sum, one) => sum + (one.payload.usage.output ?? 0), 0),
  )
  expect(await o.until('agent.spawned')).toHaveLength(1)
  expect(readFileSync(join(o.workspace, 'a'), 'utf8')).toBe('a\n')
  expect([...m.bugs, ...n.bugs, ...o.bugs]).toEqual([])
})

test('[RUN-11] turns from before a restart count', async () => {
  const limited = { runtime: { ...runtime, max_iters: 2 } }
  const m = await ownAgents(limited)
  const id = await m.open()
  await m.say(
    id,
    script(call('Bash', { command: 'sleep 60' }), call('Glob', { pattern: '*' }), { text: 'no' }),
  )
  await m.until('tool.call.started')
  await m.abandon()
  const n = await ownAgents({ folder: m.folder, ...limited })
  await n.runtime.start()
  expect((await n.until('agent.failed'))[0]?.payload.reason).toContain('max_iters')
  expect(await n.until('llm.request.completed', 2)).toHaveLength(2)
})

test('[MUS-257] a task that was noted in one run can be closed in the next', async () => {
  const m = await ownAgents()
  const id = await m.open()
  await m.say(id, script(call('TaskCreate', { subject: 'later' }), { text: 'noted' }))
  await m.until('agent.completed')
  await m.say(id, script(call('TaskUpdate', { taskId: 't1', status: 'completed' }), { text: 'closed' }))
  const ends = await m.until('agent.completed', 2)
  expect(ends[1]?.payload.output).toMatchObject({ text: 'closed' })
})
