/**
 * Records the state corpus anew: `npm run campaign record-states -- --cli gemini`. Each coding CLI plays every scenario for
 * real; what its session was told goes to `test/corpus/recorded/real`, with what was the case. Then
 * `node scripts/run.mjs test/corpus/generate.ts` makes cases of it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { play } from '../corpus/recorded/play.ts'
import { realFolder } from '../corpus/recorded/real.ts'
import { clis } from '../support/clis.ts'

const asked = process.env['MUSTER_CAMPAIGN_CLI']
const version = process.env['MUSTER_CAMPAIGN_VERSION']
for (const cli of clis) {
  if ((asked !== undefined && cli.name !== asked) || (version !== undefined && cli.version !== version))
    continue
  const home = mkdtempSync(join(tmpdir(), 'ms-'))
  const recordings = await play(cli, home, (line) => process.stderr.write(`${line}\n`))
  writeFileSync(
    join(realFolder, `${cli.name}-${cli.version}.json`),
    `{\n${Object.entries(recordings)
      .map(
        ([name, { signals, probes }]) =>
          `${JSON.stringify(name)}: {\n"probes": [\n${probes.map((one) => JSON.stringify(one)).join(',\n')}\n],\n"signals": [\n${signals.map((one) => JSON.stringify(one)).join(',\n')}\n]}`,
      )
      .join(',\n')}\n}\n`,
  )
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}
