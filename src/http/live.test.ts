import { expect, test } from 'vitest'
import { liveHub } from './live.ts'

const delta = (token: string, sessionId = 's1') => ({ sessionId, runId: 'r1', agentId: 'dev', token })
const token = (frame: string) =>
  JSON.parse(frame.split('data: ')[1] ?? '') as { token: string; dropped?: number }

test('[MUS-103] a token frame has a name and no id', () => {
  const hub = liveHub()
  const queue = hub.subscribe(() => true)
  hub.publish(delta('hello'))
  expect(queue.take()).toEqual([
    'event: Token\ndata: {"session_id":"s1","run_id":"r1","type":"Token","agent_id":"dev","token":"hello"}\n\n',
  ])
  expect(queue.take()).toEqual([])
})

test('[MUS-103] tokens go to who wants them and watches, nobody else', () => {
  const hub = liveHub()
  hub.publish(delta('before'))
  const one = hub.subscribe(({ sessionId }) => sessionId === 's1')
  const other = hub.subscribe(({ sessionId }) => sessionId === 's2')
  hub.publish(delta('now'))
  one.close()
  hub.publish(delta('after'))
  expect(one.take()).toEqual([])
  expect(other.take()).toEqual([])
})

test('[MUS-105] a client that is behind loses the oldest tokens and is told how many', () => {
  const hub = liveHub({ maxTokens: 3 })
  const queue = hub.subscribe(() => true)
  for (let i = 0; i < 10; i++) hub.publish(delta(String(i)))
  const got = queue.take().map(token)
  expect(got.map((each) => each.token)).toEqual(['7', '8', '9'])
  expect(got.map((each) => each.dropped)).toEqual([7, undefined, undefined])
  hub.publish(delta('10'))
  expect(queue.take().map(token)).toEqual([expect.not.objectContaining({ dropped: expect.anything() })])
})

test('[MUS-105] long tokens are bounded by their text', () => {
  const hub = liveHub({ maxTokens: 100, maxChars: 10 })
  const queue = hub.subscribe(() => true)
  for (const each of ['aaaaaa', 'bbbbbb', 'cccc']) hub.publish(delta(each))
  expect(queue.take().map((frame) => token(frame).token)).toEqual(['bbbbbb', 'cccc'])
  hub.publish(delta('x'.repeat(50)))
  expect(queue.take()).toHaveLength(1)
})

test('[MUS-103] every subscriber is sent the same frame', () => {
  const hub = liveHub()
  const queues = [hub.subscribe(() => true), hub.subscribe(() => true)]
  hub.publish(delta('once'))
  const [one, two] = queues.map((queue) => queue.take()[0])
  expect(one).toBe(two)
})

test('[RUN-40] who takes is called at each token it wants, and sees what waits', () => {
  const hub = liveHub()
  const queue = hub.subscribe(({ sessionId }) => sessionId === 's1')
  const seen: boolean[] = []
  queue.listen(() => seen.push(queue.isEmpty))
  hub.publish(delta('x'))
  hub.publish(delta('for another', 's2'))
  hub.publish(delta('y'))
  expect(seen).toEqual([false, false])
  queue.take()
  expect(queue.isEmpty).toBe(true)
})
