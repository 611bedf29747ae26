import { expect, test } from 'vitest'
import type { AgentEvent, EventOf, EventType } from '../../src/contract/event.ts'
import { crewDaemon } from '../support/crew-daemon.ts'
import { bash } from '../support/crew-play.ts'
import { eventually } from '../support/session-daemon.ts'

const said = (value: unknown) => `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``
const usage = { input: 90, output: 10 }
const names = ['one', 'two']
const plan = {
  when: 'Write two files',
  steps: [
    {
      text: said({
        summary: 'Two files, side by side.',
        tasks: names.map((task_id) => ({
          task_id,
          title: `Write ${task_id}`,
          description: `Write ${task_id}.txt SCRIPT=play`,
          scope: [`${task_id}.txt`],
          acceptance_criteria: ['it is there'],
        })),
      }),
      usage,
    },
  ],
}
const request = 'Write two files. SCRIPT=play'
const of = <T extends EventType>(events: readonly AgentEvent[], type: T) =>
  events.filter((event): event is EventOf<T> => event.type === type)

/** What closed each assignment: messages and facts, by task; messages are numbered without a gap. */
function closings(events: readonly AgentEvent[]) {
  const messages = of(events, 'agent.message.created')
    .map(({ payload }) => payload)
    .filter(({ messageType }) => messageType !== undefined)
  expect(messages.map(({ sequenceNumber }) => sequenceNumber)).toEqual(messages.map((_, i) => i + 1))
  const byTask = (id: string) => ({
    said: messages.filter(({ messageType, payload }) => {
      const { task_id, target_id } = payload as { task_id?: string; target_id?: string }
      return (
        (messageType === 'task_completion' && task_id === id) || (messageType === 'abort' && target_id === id)
      )
    }),
    facts: events.filter(
      ({ type, taskId }) => /^task\.(completed|failed|cancelled)$/.test(type) && taskId === id,
    ),
  })
  return Object.fromEntries(
    of(events, 'agent.task.assigned').map(({ payload }) => [payload.taskId, byTask(payload.taskId)]),
  )
}

test('[COL-26][MUS-275] a cancel calls off whoever is at a task, each once, also when the daemon is killed right after', async () => {
  const m = await crewDaemon({
    parts: [...names.map((name) => ({ when: `"task_id": "${name}"`, steps: [bash('sleep 600')] })), plan],
  })
  const { workflow_id, session_id } = await m.crew(request)
  await eventually(
    () => m.events(session_id, 'tool.call.started'),
    (all) => all.length === 2,
  )
  await m.kill()
  await m.until(workflow_id, ({ status }) => status === 'running')
  await m.client().cancelWorkflow({ id: workflow_id, reason: 'enough' })
  await m.kill()
  const events = await m.events(session_id)
  const closed = closings(events)
  expect(Object.keys(closed).toSorted()).toEqual(['one', 'two'])
  for (const { said: words, facts } of Object.values(closed)) {
    expect(words).toMatchObject([
      { messageType: 'abort', from: { agentId: 'architect' }, payload: { scope: 'task', reason: 'enough' } },
    ])
    expect(facts.map(({ type }) => type)).toEqual(['task.cancelled'])
  }
  expect(of(events, 'workflow.cancelled')).toHaveLength(1)
  expect(events.findLastIndex(({ type }) => type === 'agent.message.created')).toBeLessThan(
    events.findIndex(({ type }) => type === 'workflow.cancelled'),
  )
})

test('[COL-26][MUS-280] a limit calls off whoever is at a task, each once, before its phase ends', async () => {
  const looking = Array.from({ length: 40 }, (_, i) => ({
    text: `Look ${i}.`,
    tools: [{ name: 'Read', input: { file_path: 'greet.mjs', offset: 1, limit: i + 1 } }],
    usage,
    delayMs: 30,
  }))
  const m = await crewDaemon({
    parts: [...names.map((name) => ({ when: `"task_id": "${name}"`, steps: looking })), plan],
  })
  const { workflow_id, session_id } = await m.crew(request, { budget: { tokens: 1500 } })
  expect(await m.ended(workflow_id)).toMatchObject({ status: 'failed' })
  const events = await m.events(session_id)
  const closed = closings(events)
  expect(Object.keys(closed).toSorted()).toEqual(['one', 'two'])
  for (const { said: words, facts } of Object.values(closed)) {
    expect(words).toMatchObject([
      { messageType: 'abort', payload: { reason: expect.stringContaining('of 1500 tokens') } },
    ])
    expect(facts.map(({ type }) => type)).toEqual(['task.cancelled'])
  }
  const exit = of(events, 'workflow.node.exit').find(({ payload }) => payload.node === 'delegate-1')
  expect(of(events, 'agent.message.created').at(-1)?.seq).toBeLessThan(exit?.seq ?? 0)
})
