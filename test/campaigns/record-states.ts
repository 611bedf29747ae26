/**
 * Records the state corpus anew: `npm run campaign record-states -- --cli gemini --scenario turn`. Each coding CLI plays
 * every scenario for real; what its session was told goes to `test/corpus/recorded/real`, with what was the case. Then
 * `node scripts/run.mjs test/corpus/generate.ts` makes cases of it.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { play } from '../corpus/recorded/play.ts'
import { realFolder, recordingsIn } from '../corpus/recorded/real.ts'
import { clis } from '../support/clis.ts'

const asked = process.env['MUSTER_CAMPAIGN_CLI']
const version = process.env['MUSTER_CAMPAIGN_VERSION']
for (const cli of clis) {
  if ((asked !== undefined && cli.name !== asked) || (version !== undefined && cli.version !== version))
    continue
  const home = mkdtempSync(join(tmpdir(), 'ms-'))
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const file = join(realFolder, `${cli.name}-${cli.version}.jsonl`)
  const only = process.env['MUSTER_CAMPAIGN_SCENARIO']
  const played = await play(cli, { home, only, say })
  const kept = existsSync(file) ? recordingsIn(file) : []
  const all = new Map([...kept, ...played].map((one) => [one.scenario, one]))
  writeFileSync(file, [...all.values()].map((one) => `${JSON.stringify(one)}\n`).join(''))
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}
