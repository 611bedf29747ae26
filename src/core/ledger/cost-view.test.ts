import { expect, test } from 'vitest'
import { costView } from './cost-view.ts'

const row = {
  cli: null,
  model: 'm',
  billing: null,
  costUsd: null,
  estimatedUsd: null,
  priceList: null,
  unpriced: 0,
} as const

test('[MUS-332] a reported cost is dollars, and says who reported it', () => {
  expect(costView({ ...row, cli: 'claude', costUsd: 2, estimatedUsd: 0, unpriced: 7 })).toEqual({
    billing: null,
    cost_usd: 2,
    cost_is_estimate: false,
    cost_basis: 'reported by Claude Code',
  })
})

test('[MUS-332][MUS-182] where a plan pays, a reported cost is only what it would be at API price', () => {
  const plan = { ...row, cli: 'claude', costUsd: 2, estimatedUsd: 0, billing: 'plan' }
  expect(costView(plan)).toMatchObject({
    billing: 'plan',
    cost_is_estimate: true,
    cost_basis: 'reported by Claude Code, at API price, a plan pays',
  })
})

test('[MUS-332] a computed cost names its prices, and what they leave out', () => {
  const listed = { ...row, cli: 'codex', costUsd: 0.5, estimatedUsd: 0.5, priceList: '2026-09-22' }
  expect(costView(listed)).toMatchObject({
    cost_usd: 0.5,
    cost_is_estimate: true,
    cost_basis: 'at API price of 2026-09-22',
  })
  expect(costView({ ...listed, priceList: 'settings', unpriced: 3 }).cost_basis).toBe(
    'at the prices of your settings, without 3 calls of models that have no price',
  )
})

test('[MUS-332] a model without a price has no cost and says so; nothing is said where no model was paid for', () => {
  expect(costView({ ...row, cli: 'gemini', unpriced: 1 }, 'new-model')).toMatchObject({
    cost_usd: null,
    cost_is_estimate: false,
    cost_basis: 'no price is known for new-model',
  })
  expect(costView({ ...row, unpriced: 1 }).cost_basis).toBeNull()
  expect(costView({ ...row, billing: 'api', unpriced: 1 }).cost_basis).toBe('no price is known for m')
})
