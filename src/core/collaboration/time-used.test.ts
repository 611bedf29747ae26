import { expect, test } from 'vitest'
import { timeUsed, type WorkSign } from './crew-effort.ts'

const marks = (...all: [WorkSign['is'], number][]) => all.map(([is, atMs]) => ({ is, atMs }))

test('[MUS-175] the time of a run is that in which it was at work', () => {
  expect(timeUsed([])).toBe(0)
  expect(timeUsed(marks(['sign', 100], ['sign', 150], ['sign', 300]))).toBe(200)
  expect(timeUsed(marks(['sign', 0], ['sign', 10], ['resumed', 5000], ['sign', 5030]))).toBe(40)
  expect(
    timeUsed(marks(['sign', 0], ['waiting', 10], ['sign', 900], ['at_work', 1000], ['sign', 1005])),
  ).toBe(15)
  expect(
    timeUsed(marks(['waiting', 10], ['resumed', 900], ['sign', 950], ['at_work', 1000], ['sign', 1001])),
  ).toBe(1)
  expect(timeUsed(marks(['sign', 100], ['sign', 90]))).toBe(0)
})
