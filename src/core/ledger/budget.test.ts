import { expect, test } from 'vitest'
import { budgetUse, refuseUncountedMoney } from './budget.ts'
import { PriceBook } from './price-book.ts'

const prices = new PriceBook({
  asOf: '2026-09-22',
  source: 'a test',
  models: { known: { input: 1, output: 1 } },
})
const check = (usd: number | undefined, ...workers: { cli: string; model?: string }[]) => {
  try {
    refuseUncountedMoney(usd, prices, workers)
    return 'accepted'
  } catch (error) {
    return (error as Error).message
  }
}

test('[MUS-330] a limit in money is accepted where it can be kept: by the cost that is told, or by a price', () => {
  for (const worker of [
    { cli: 'claude', model: 'unknown' },
    { cli: 'codex', model: 'known' },
    { cli: 'own', model: 'known' },
    // Which model it uses shows with its first call.
    { cli: 'gemini' },
  ])
    expect([worker, check(0.05, worker)]).toEqual([worker, 'accepted'])
})

test('[MUS-330] where it cannot be kept it is refused, with what to do instead', () => {
  expect(check(5, { cli: 'codex', model: 'unknown' }, { cli: 'own', model: 'other' })).toBe(
    'no price is known for unknown, other, so a limit in dollars cannot be kept; add its price under models.prices in the settings, or limit the tokens instead',
  )
  expect(check(0.05, { cli: 'shell' })).toMatch(
    /^shell reports neither tokens nor cost, so a limit of \$0\.05 .*limit the time/,
  )
  expect(check(undefined, { cli: 'shell', model: 'unknown' })).toBe('accepted')
})

test('[MUS-330] cents count', () => {
  expect(budgetUse({ usd: 0.05 }, { tokens: 9, usd: 0.039 })).toMatchObject({ level: 'ok' })
  expect(budgetUse({ usd: 0.05 }, { tokens: 9, usd: 0.041 })).toMatchObject({ level: 'warning' })
  expect(budgetUse({ usd: 0.05 }, { tokens: 9, usd: 0.05 })).toMatchObject({ level: 'exceeded' })
})
