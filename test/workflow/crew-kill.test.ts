import { expect, test } from 'vitest'
import { killCrews } from '../support/crew-kill-campaign.ts'
import { sized } from '../support/size.ts'

test('[MUS-275] crews killed at random moments come to their right end, and nothing is done twice', async () => {
  const kills = sized(3, 1)
  const found = await killCrews({ seed: 11, kills, crews: 2 })
  expect(found).toMatchObject({ ends: kills * 2, faults: [] })
})

test('[MUS-275][COL-70][COL-72] peers and voters killed at random moments agree and decide as they would have, and nothing is done twice', async () => {
  const kills = sized(4, 2)
  const found = await killCrews({ seed: 5, kills, crews: 1, plays: ['peers', 'council'] })
  expect(found).toMatchObject({ ends: kills, faults: [] })
})
