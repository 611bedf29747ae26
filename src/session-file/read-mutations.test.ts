import { expect, test } from 'vitest'
import { mutationCampaign } from '../../test/support/std-008-campaign.ts'

test('[LOG-127] a damaged file is refused by name or comes out without an error, and needs no second repair', () => {
  const { read, repaired, refused } = mutationCampaign({ files: 500, seed: 20 })
  expect(read + repaired + refused).toBe(500)
  // Most damage can be repaired; a reader that refuses everything would pass all else.
  expect(repaired).toBeGreaterThan(300)
  expect(refused).toBeLessThan(50)
})
