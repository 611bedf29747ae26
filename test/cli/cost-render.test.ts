import { expect, test } from 'vitest'
import { renderProgress } from '../../src/cli/render/session-details.ts'
import { progress } from './session-data.ts'

const plain = { width: 80, now: 0, color: false }

test('[MUS-332] a computed cost is marked and names its prices; what is not reported is named', () => {
  const shown = (more: object) => renderProgress({ ...progress, ...more }, plain, { watch: undefined })
  const listed = { cost_usd: 12.3, cost_is_estimate: true, cost_basis: 'at API price of 2026-09-22' }
  expect(shown(listed)).toContain('ost: ≈$12 (at API price of 2026-09-22)\n')
  expect(shown({ ...listed, cost_usd: 0.125, context_percent: 43.4 })).toContain(
    '\nContext: 43% used, cost ≈$0.13 (at API price of 2026-09-22)\n',
  )
  expect(shown({ cost_basis: 'no price is known for m' })).toContain(
    'ost: unknown (no price is known for m)\n',
  )
  expect(shown({ not_counted: 'a compaction' })).toContain(
    '\nNot counted, because it is not reported: a compaction\n',
  )
})
