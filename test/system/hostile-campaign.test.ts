import { expect, test } from 'vitest'
import { hostileCampaign } from '../support/hostile-campaign.ts'
import { sized } from '../support/size.ts'

test('[MUS-318] a hostile child that tries everything at random, with walls and without, reaches nothing of others', async () => {
  const { faults, moves, events } = await hostileCampaign({ steps: sized(200, 60), seed: 7 })
  expect(faults).toEqual([])
  expect(Object.keys(moves).sort()).toEqual(['break', 'call', 'forge', 'hook', 'plant', 'record', 'stream'])
  expect(events).toBeGreaterThan(30)
})
