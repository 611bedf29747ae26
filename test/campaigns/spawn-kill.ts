/** Agents that leave processes everywhere, ended in every way: `npm run campaign spawn-kill -- --runs 1000 --seed 1`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isClean } from '../support/leftovers.ts'
import { spawnKillCampaign } from '../support/spawn-kill-campaign.ts'

const runs = Number(process.env['MUSTER_CAMPAIGN_RUNS'] ?? 1000)
const seed = Number(process.env['MUSTER_CAMPAIGN_SEED'] ?? 1)
const folder = mkdtempSync(join(tmpdir(), 'msk-'))

try {
  const result = await spawnKillCampaign({
    folder,
    runs,
    seed,
    daemonKills: Math.floor(runs / 50),
    onRun: (n, way) => n % 50 === 0 && console.log(`run ${n}: ${way}`),
  })
  console.log(result)
  if (!isClean(result.left) || result.ends.length > 0 || result.refused > runs / 100) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
