import { expect, test } from 'vitest'
import { estimateWords, timeUsed, type WorkSign } from './crew-effort.ts'

const planned = { tasks: 4, reviewers: 2, maxIterations: 3, atOnce: 3 }

test('[COL-24] whoever approves a plan is told how many agents and tokens it will take, and by what', () => {
  const earlier = { crews: 2, agents: 10, tokens: 123_456 }
  expect(estimateWords({ ...planned, earlier })).toBe(
    'Estimate: 6 to 18 agents after this plan, up to 3 at once, for 1 to 3 rounds; about 74,000 to 220,000 tokens, by 2 earlier crews.',
  )
  expect(estimateWords({ ...planned, maxIterations: 1, earlier: { ...earlier, crews: 1 } })).toContain(
    'Estimate: 6 agents after this plan, up to 3 at once, for 1 round; about 74,000 tokens, by 1 earlier crew.',
  )
})

test('[COL-24] without a basis there is no estimate of tokens, and a budget is named as the end', () => {
  const earlier = { crews: 0, agents: 0, tokens: 0 }
  const words = estimateWords({ ...planned, tasks: 1, earlier, budget: { tokens: 1_500_000, usd: 5 } })
  expect(words).toContain('up to 1 at once')
  expect(words).toContain('no estimate of tokens')
  expect(words).toContain('It is stopped at 1,500,000 tokens or $5.')
})

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
