import { expect, test } from 'vitest'
import { killCrews } from '../support/crew-kill-campaign.ts'
import { sized } from '../support/size.ts'

test('[MUS-275] crews killed at random moments come to their right end, and nothing is done twice', async () => {
  const kills = sized(3, 1)
  const found = await killCrews({ seed: 11, kills, crews: 2 })
  expect(found).toMatchObject({ ends: kills * 2, faults: [] })
})
