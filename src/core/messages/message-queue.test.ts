import { expect, test } from 'vitest'
import type { Draft } from '../../contract/event.ts'
import { evolveQueue, nextMessage, type Queued } from './message-queue.ts'

const at = (second: number) => `2026-01-27T15:10:0${second}.000Z`
const fold = (...events: readonly (readonly [type: string, payload: object, second?: number])[]) =>
  events.reduce<readonly Queued[]>(
    (queue, [type, payload, second = 0]) =>
      evolveQueue(queue, { type, spanId: 's', payload } as unknown as Draft, { recordedAt: at(second) }),
    [],
  )
const queued = (messageId: string, more: object = {}) => ['message.queued', { messageId, ...more }] as const

test('[SM-43] what is on its way is ended first; then what interrupts, what is important, and the rest in order', () => {
  const queue = fold(
    queued('a'),
    queued('b', { mode: 'important' }),
    queued('c', { mode: 'urgent' }),
    queued('d', { mode: 'urgent' }),
  )
  const order: (string | undefined)[] = []
  let rest = queue
  while (rest.length > 0) {
    const next = nextMessage(rest, false)
    order.push(next?.messageId)
    rest = rest.filter((one) => one !== next)
  }
  expect(order).toEqual(['c', 'd', 'b', 'a'])
  const begun = fold(
    queued('a'),
    ['message.delivered', { messageId: 'a', stage: 'pasted' }],
    queued('c', { mode: 'urgent' }),
  )
  expect(nextMessage(begun, false)?.messageId).toBe('a')
})

test('[SM-42] a receipt is not older than the paste, also after Enter, and begins anew when a hook brought nothing', () => {
  const stages = (...list: readonly (readonly [string, number])[]) =>
    fold(
      queued('a'),
      ...list.map(([stage, second]) => ['message.delivered', { messageId: 'a', stage }, second] as const),
    )[0]
  expect(stages()).not.toHaveProperty('givenAtMs')
  expect(stages(['pasted', 1], ['submitted', 2])).toMatchObject({
    stage: 'submitted',
    givenAtMs: Date.parse(at(1)),
  })
  expect(stages(['injected', 1], ['pasted', 3])).toMatchObject({
    stage: 'pasted',
    givenAtMs: Date.parse(at(3)),
  })
})

test('[SM-42] a message leaves the queue by its one end', () => {
  expect(fold(queued('a'), ['message.accepted', { messageId: 'a' }])).toEqual([])
  expect(fold(queued('a'), queued('b'), ['message.failed', { messageId: 'a' }])).toMatchObject([
    { messageId: 'b' },
  ])
})
