import { expect, test } from 'vitest'
import { killCrews } from '../support/crew-kill-campaign.ts'

test('[MUS-275] ten crews killed at random moments come to their right end, and nothing is done twice', async () => {
  const found = await killCrews({ seed: 11, kills: 5, crews: 2 })
  expect(found).toMatchObject({ ends: 10, faults: [] })
}, 300_000)
