import { expect, test } from 'vitest'
import { sized } from '../support/size.ts'
import { spawnKillCampaign } from '../support/spawn-kill-campaign.ts'
import { tempFolder } from '../support/temp-journal.ts'

test('[MUS-235][SM-119][SM-126] agents that leave processes everywhere, ended in every way, the daemon killed once: nothing of them is left', async () => {
  const { left, ends, refused, sessions } = await spawnKillCampaign({
    folder: tempFolder('msk-'),
    runs: sized(24, 12),
    seed: 11,
    daemonKills: 1,
  })
  expect(left).toEqual({ processes: [], terminals: [], folders: [], grants: [], vault: [], files: [] })
  expect(ends).toEqual([])
  expect(refused).toBe(0)
  expect(sessions).toBeGreaterThan(sized(10, 4))
})
