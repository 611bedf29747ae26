import { expect, test } from 'vitest'
import { manualClock } from '../../../test/http/manual-clock.ts'
import { planTask } from '../../../test/support/collaboration.ts'
import type { Draft, PayloadOf } from '../../contract/event.ts'
import { Conversation } from './conversation.ts'
import { whileReporting } from './report-progress.ts'

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A task that goes on until it is told to end, and what was said meanwhile. */
async function longTask() {
  const clock = manualClock()
  const said: PayloadOf<'agent.message.created'>[] = []
  const bugs: unknown[] = []
  let diff = ''
  let isBroken = false
  let isAtWork = true
  const root = {
    sessionId: 'ses',
    traceId: 't',
    runId: 'r',
    spanId: 's',
    actor: 'crew',
    workflowId: 'w',
    phase: 'delegate',
  }
  const flow = {
    signal: new AbortController().signal,
    id: 'w',
    root: () => root,
    step: async (_name: string, act: (given: object) => Promise<unknown>) =>
      act({ tell: (...drafts: Draft[]) => void said.push(...drafts.map(({ payload }) => payload as never)) }),
  } as never
  const engine = {
    perform: async (drafts: Draft[]) => void said.push(...drafts.map(({ payload }) => payload as never)),
  }
  const talk = await Conversation.open({ engine, events: async function* () {} } as never, flow, {
    coordinators: [{ agentId: 'architect', agentType: 'architect' }],
    others: [{ agentId: 'dev-1', agentType: 'developer' }],
  })
  const task = planTask('t1')
  await talk.say(flow, 'assign', {
    utterance: {
      from: 'architect',
      to: 'dev-1',
      type: 'task_assignment',
      payload: {
        task: { task_id: 't1', task_description: task.title, constraints: { scope: task.scope } } as never,
      },
    },
  })
  said.length = 0
  const over = Promise.withResolvers<string>()
  const ended = whileReporting(
    { clock, talk, steps: flow, onBug: (error: unknown) => void bugs.push(error) },
    {
      taskId: 't1',
      from: 'architect',
      to: 'dev-1',
      everyMs: 30_000,
      isAtWork: () => isAtWork,
      look: async () => {
        if (isBroken) throw new Error('git is busy')
        return { files: ['a.ts'], sign: diff }
      },
    },
    () => over.promise,
  )
  const pass = async (seconds: number) => {
    clock.advance(seconds * 1000)
    for (let i = 0; i < 20; i++) await settle()
  }
  return {
    said: () => said.map(({ messageType }) => messageType),
    messages: said,
    bugs,
    pass,
    change: () => void (diff += '+'),
    agentEnds: () => void (isAtWork = false),
    breakDown: (word: boolean) => void (isBroken = word),
    async end() {
      over.resolve('done')
      return ended
    },
    sleepers: () => clock.sleepers(),
  }
}

test('[COL-35] a task is reported on after two minutes and then every 30 seconds, until it ends', async () => {
  const m = await longTask()
  await m.pass(119)
  expect(m.said()).toEqual([])
  await m.pass(1)
  expect(m.messages).toMatchObject([
    {
      messageType: 'task_progress',
      payload: { task_id: 't1', current_step: 'at work for 2 min', files_modified_so_far: ['a.ts'] },
    },
  ])
  for (let n = 2; n <= 4; n++) {
    m.change()
    await m.pass(29)
    expect(m.said()).toHaveLength(n - 1)
    await m.pass(1)
    expect(m.said()).toHaveLength(n)
  }
  expect(await m.end()).toBe('done')
  await m.pass(600)
  expect(m.said()).toEqual(['task_progress', 'task_progress', 'task_progress', 'task_progress'])
  expect([m.sleepers(), m.bugs]).toEqual([0, []])
})

test('[COL-35] a developer whose work stands still is asked how it stands, and the answer is tied to the question', async () => {
  const m = await longTask()
  m.change()
  await m.pass(120)
  for (let n = 0; n < 4; n++) await m.pass(30)
  const [query, answer] = m.messages.slice(-2)
  expect(query).toMatchObject({
    messageType: 'status_query',
    from: { agentId: 'architect' },
    to: { agentId: 'dev-1' },
    payload: { subject_id: 't1' },
  })
  expect(answer).toMatchObject({
    messageType: 'status_response',
    replyTo: query?.messageId,
    correlationId: query?.correlationId,
    payload: { state: 'working', detail: expect.stringContaining('for 120 s') },
  })
  m.change()
  for (let n = 0; n < 4; n++) await m.pass(30)
  expect(m.said().filter((type) => type === 'status_query')).toHaveLength(1)
  m.agentEnds()
  await m.pass(30)
  expect(m.messages.slice(-3)).toMatchObject([
    { messageType: 'task_progress', payload: { current_step: 'being checked after 6 min' } },
    { messageType: 'status_query' },
    { messageType: 'status_response', payload: { detail: expect.stringContaining('checks have not ended') } },
  ])
  await m.end()
  expect(m.bugs).toEqual([])
})

test('[COL-35] a report that goes wrong is tried again, three times in a row at most', async () => {
  const m = await longTask()
  m.breakDown(true)
  await m.pass(120)
  m.breakDown(false)
  await m.pass(30)
  expect(m.said()).toEqual(['task_progress'])
  m.breakDown(true)
  for (let n = 0; n < 6; n++) await m.pass(30)
  expect(m.bugs).toHaveLength(1 + 4)
  expect(m.sleepers()).toBe(0)
  expect(await m.end()).toBe('done')
})
