import { expect, test } from 'vitest'
import { late, type Step } from './bounds.ts'

const story = (messageId: string, queued: number, typed?: number, ended?: number): Step[] => [
  { messageId, step: 'queued', atMs: queued * 1000 },
  ...(typed === undefined ? [] : [{ messageId, step: 'typed' as const, atMs: typed * 1000 }]),
  ...(ended === undefined ? [] : [{ messageId, step: 'ended' as const, atMs: ended * 1000 }]),
]
const found = (steps: readonly Step[], visits: readonly [number, number][] = []) =>
  late(steps, {
    visits: visits.map(([from, to]) => ({ fromMs: from * 1000, toMs: to * 1000 })),
    slow: () => 1,
    nowMs: 2_000_000,
  }).late.map(({ messageId, why }) => `${messageId} ${why}`)

test('[MUS-324] each message is held to its own bound, counted from when those before it had ended', () => {
  expect(found([...story('a', 0, 1, 70), ...story('b', 0, 100, 110)])).toEqual([])
  expect(found(story('a', 0, 61, 62))).toEqual(['a waited 61 s to be typed'])
  expect(found([...story('a', 0, 1, 70), ...story('b', 0, 140, 141)])).toEqual(['b waited 70 s to be typed'])
  expect(found(story('a', 0, 1, 90))).toEqual(['a waited 89 s for its proof'])
  expect(found(story('a', 1990, 1995))).toEqual([])
  expect(found(story('a', 1000, 1001))).toEqual(['a waited 999 s for its proof', 'a waited 999 s in all'])
})

test('[MUS-324] what waits for a person has their time, and ten minutes at most', () => {
  expect(found(story('a', 0, 100, 110), [[10, 60]])).toEqual([])
  expect(
    found(story('a', 0, 130, 140), [
      [10, 60],
      [20, 50],
    ]),
  ).toEqual(['a waited 75 s to be typed'])
  expect(found(story('a', 0, 1, 700), [[0, 700]])).toEqual(['a waited 699 s in all'])
})
