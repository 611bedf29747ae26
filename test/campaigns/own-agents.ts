/** kill -9 of the daemon while its built-in agents work: `npm run campaign own-agents -- --runs 50 --seed 1`. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownAgentsCampaign } from '../support/own-agents-campaign.ts'

const kills = Number(process.env['MUSTER_CAMPAIGN_RUNS'] ?? 50)
const seed = Number(process.env['MUSTER_CAMPAIGN_SEED'] ?? 1)
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'moc-')))

try {
  const figures = await ownAgentsCampaign({ folder, kills, seed, say: (line) => console.log(line) })
  console.log({ seed, ...figures })
  if (figures.faults.length > 0) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}
