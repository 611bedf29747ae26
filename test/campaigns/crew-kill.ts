/** kill -9 of the daemon at random moments of crews of every pattern: `npm run campaign crew-kill -- --runs 100 --seed 1`. */
import { killCrews } from '../support/crew-kill-campaign.ts'

const kills = Number(process.env['MUSTER_CAMPAIGN_RUNS'] ?? 100)
const seed = Number(process.env['MUSTER_CAMPAIGN_SEED'] ?? 1)
const crews = Number(process.env['MUSTER_CAMPAIGN_CREWS'] ?? 1)

const found = await killCrews({
  seed,
  kills,
  crews,
  plays: ['balanced', 'peers', 'council'],
  onKill: (n, { ends, faults }) => console.log(`${n} kills, ${ends} ends`, faults),
})
console.log({ seed, kills, crews, ...found })
process.exitCode = found.faults.length > 0 ? 1 : 0
