import { expect, test } from 'vitest'
import { sized } from '../../test/support/size.ts'
import { mutationCampaign } from '../../test/support/std-008-campaign.ts'

test('[LOG-127] a damaged file is refused by name or comes out without an error, and needs no second repair', () => {
  const files = sized(500, 40)
  const { read, repaired, refused } = mutationCampaign({ files, seed: 20 })
  expect(read + repaired + refused).toBe(files)
  // Most damage can be repaired; a reader that refuses everything would pass all else.
  expect(repaired).toBeGreaterThan(files * 0.6)
  expect(refused).toBeLessThan(files * 0.1)
})
