/** Damaged session files, read and repaired: `npm run campaign std-008 -- --runs 10000 --seed 1`. */
import { mutationCampaign } from '../support/std-008-campaign.ts'

const files = Number(process.env['MUSTER_CAMPAIGN_RUNS'] ?? 10_000)
const seed = Number(process.env['MUSTER_CAMPAIGN_SEED'] ?? 1)
console.log({ files, seed, ...mutationCampaign({ files, seed }) })
