import { expect, test } from 'vitest'
import { killCampaign } from '../support/kill-campaign.ts'
import { sized } from '../support/size.ts'
import { tempFolder } from '../support/temp-journal.ts'

test('[MUS-28][MUS-34][MUS-72] kill -9 at random moments under load: acknowledged events are there once, batches whole, seq without gap, index agrees', async () => {
  const result = await killCampaign({ home: tempFolder(), kills: sized(20, 5), seed: 7 })
  expect(result.acknowledged).toBeGreaterThan(100)
  expect(result.stored).toBeGreaterThanOrEqual(result.acknowledged)
})
