import { expect, test } from 'vitest'
import { liveHub } from './live.ts'

const delta = (token: string, sessionId = 's1') => ({ sessionId, runId: 'r1', agentId: 'dev', token })
const token = (frame: string) =>
  JSON.parse(frame.split('data: ')[1] ?? '') as { token: string; dropped?: number }

test('[MUS-103] a token frame has a name and no id', () => {
  const hub = liveHub()
  const queue = hub.subscribe(() => true)
  hub.publish(delta('hello'))
  expect(queue.take(0)).toEqual([
    'event: Token\ndata: {"session_id":"s1","run_id":"r1","type":"Token","agent_id":"dev","token":"hello"}\n\n',
  ])
  expect(queue.take(0)).toEqual([])
})

test('[MUS-103] tokens go to who wants them and watches, nobody else', () => {
  const hub = liveHub()
  hub.publish(delta('before'))
  const one = hub.subscribe(({ sessionId }) => sessionId === 's1')
  const other = hub.subscribe(({ sessionId }) => sessionId === 's2')
  hub.publish(delta('now'))
  one.close()
  hub.publish(delta('after'))
  expect(one.take(0)).toEqual([])
  expect(other.take(0)).toEqual([])
})

test('[MUS-105] a client that is behind loses the oldest tokens and is told how many', () => {
  const hub = liveHub({ maxTokens: 3 })
  const queue = hub.subscribe(() => true)
  for (let i = 0; i < 10; i++) hub.publish(delta(String(i)))
  const got = queue.take(0).map(token)
  expect(got.map((each) => each.token)).toEqual(['7', '8', '9'])
  expect(got.map((each) => each.dropped)).toEqual([7, undefined, undefined])
  hub.publish(delta('10'))
  expect(queue.take(0).map(token)).toEqual([expect.not.objectContaining({ dropped: expect.anything() })])
})

test('[MUS-105] long tokens are bounded by their text', () => {
  const hub = liveHub({ maxTokens: 100, maxChars: 10 })
  const queue = hub.subscribe(() => true)
  for (const each of ['aaaaaa', 'bbbbbb', 'cccc']) hub.publish(delta(each))
  expect(queue.take(0).map((frame) => token(frame).token)).toEqual(['bbbbbb', 'cccc'])
  hub.publish(delta('x'.repeat(50)))
  expect(queue.take(0)).toHaveLength(1)
})

const line = (text: string, runId = 'r1') => ({
  sessionId: 's1',
  runId,
  agentId: 'dev',
  tool: 'Bash',
  line: text,
})

test('[RUN-31][MUS-103] what a call prints is the status of its run, and no frame with an id', () => {
  const hub = liveHub()
  const queue = hub.subscribe(() => true)
  hub.publish(line('3 of 4'))
  expect(queue.take(0)).toEqual([
    'event: AgentStatus\ndata: {"session_id":"s1","run_id":"r1","type":"AgentStatus","agent_id":"dev","status":"calling_tool","detail":"Calling Bash: 3 of 4","status_id":"r1","lifecycle":"doing"}\n\n',
  ])
})

test('[MUS-105] of what a run prints only the last line waits, of so many runs, and no token is lost for it', () => {
  const hub = liveHub({ maxTokens: 2 })
  const queue = hub.subscribe(() => true)
  for (const each of ['a', 'b']) hub.publish(delta(each))
  for (let i = 0; i < 10; i++) hub.publish(line(String(i)))
  hub.publish(line('other', 'r2'))
  const frames = queue.take(0)
  expect(frames.map((frame) => JSON.parse(frame.split('data: ')[1] ?? ''))).toMatchObject([
    { detail: 'Calling Bash: 9' },
    { detail: 'Calling Bash: other' },
    { token: 'a' },
    { token: 'b' },
  ])
  expect(frames.join('')).not.toContain('dropped')
  for (let i = 0; i < 1000; i++) hub.publish(line('x', `r${i}`))
  expect(queue.isEmpty).toBe(false)
  expect(queue.take(0)).toHaveLength(64)
  expect(queue.isEmpty).toBe(true)
})

test('[MUS-103] every subscriber is sent the same frame', () => {
  const hub = liveHub()
  const queues = [hub.subscribe(() => true), hub.subscribe(() => true)]
  hub.publish(delta('once'))
  const [one, two] = queues.map((queue) => queue.take(0)[0])
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
  queue.take(0)
  expect(queue.isEmpty).toBe(true)
})

test('[MUS-379] a token waits for the events that were there when it was said, and comes before those after it', () => {
  let seq = 4
  const hub = liveHub({ watermark: () => seq })
  const queue = hub.subscribe(() => true)
  hub.publish(delta('after 4'))
  seq = 6
  hub.publish(delta('after 6'))
  expect(queue.take(3)).toEqual([])
  expect(queue.take(5).map((frame) => token(frame).token)).toEqual(['after 4'])
  expect(queue.isEmpty).toBe(false)
  expect(queue.take(6).map((frame) => token(frame).token)).toEqual(['after 6'])
  expect(queue.isEmpty).toBe(true)
})
