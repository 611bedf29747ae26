/** A hostile child that tries everything, with and without walls: `npm run campaign hostile -- --runs 2000 --seed 1`. */
import { hostileCampaign } from '../support/hostile-campaign.ts'

const steps = Number(process.env['MUSTER_CAMPAIGN_RUNS'] ?? 2000)
const seed = Number(process.env['MUSTER_CAMPAIGN_SEED'] ?? 1)

let told = 0
const { faults, ...figures } = await hostileCampaign({
  steps,
  seed,
  onBatch(step, found) {
    for (const fault of found.slice(told)) console.log(fault)
    told = found.length
    if (step % 100 === 0) console.log(`step ${step}: ${found.length} faults`)
  },
})
for (const fault of faults.slice(told)) console.log(fault)
console.log({ seed, ...figures })
if (faults.length > 0) process.exitCode = 1
