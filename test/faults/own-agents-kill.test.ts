import { realpathSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ownAgentsCampaign } from '../support/own-agents-campaign.ts'
import { sized } from '../support/size.ts'
import { tempFolder } from '../support/temp-journal.ts'

test('[MUS-174][RUN-29] built-in agents under kill -9 at random moments: each message taken once, one end for each run, no command run twice', async () => {
  const folder = realpathSync(tempFolder('moc-'))
  const { faults, taken, runs } = await ownAgentsCampaign({ folder, kills: sized(3, 1), seed: 11 })
  expect(faults).toEqual([])
  expect(taken).toBeGreaterThan(sized(2, 0))
  expect(runs).toBeGreaterThan(sized(2, 0))
})
