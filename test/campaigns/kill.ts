/** kill -9 of the daemon at random moments under load: `npm run campaign kill -- --runs 200 --seed 1`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killCampaign } from '../support/kill-campaign.ts'

const runs = Number(process.env['MUSTER_CAMPAIGN_RUNS'] ?? 200)
const seed = Number(process.env['MUSTER_CAMPAIGN_SEED'] ?? 1)
const home = mkdtempSync(join(tmpdir(), 'muster-kill-'))

try {
  const result = await killCampaign({
    home,
    kills: runs,
    seed,
    onKill: (n, acked) => console.log(`kill ${n}: ${acked} acknowledged`),
  })
  console.log(result)
} finally {
  rmSync(home, { recursive: true, force: true })
}
