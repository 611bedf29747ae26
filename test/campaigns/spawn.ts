/** Sessions by the hundred, alone and at once: `npm run campaign spawn -- --runs 1000 --seed 1`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnCampaign } from '../support/spawn-campaign.ts'

const spawns = Number(process.env['MUSTER_CAMPAIGN_RUNS'] ?? 1000)
const seed = Number(process.env['MUSTER_CAMPAIGN_SEED'] ?? 1)
const home = mkdtempSync(join(tmpdir(), 'muster-spawn-'))

try {
  const onBatch = (done: number) => process.stdout.write(`\r${done} of ${spawns}`)
  const figures = await spawnCampaign({ home, spawns, seed, onBatch })
  console.log(`\n${JSON.stringify(figures, null, 2)}`)
  process.exitCode = figures.failures.length * 100 < spawns && figures.unlisted === 0 ? 0 : 1
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 })
}
