/**
 * Records what this release writes, for every later one to read: `npm run campaign record-journals`. A journal that is
 * there stays as it is. With `--expected again` nothing is recorded: what all of them mean today is written down.
 */
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startVitest } from 'vitest/node'
import { cliPath, clis } from '../support/clis.ts'

const folder = mkdtempSync(join(tmpdir(), 'golden-'))
// Temporary folders and CLIs get plain paths, so that nothing of this machine and its user gets into a journal.
const [cli] = clis.map(({ name, version }) => cliPath(name, version)).filter((path) => path !== undefined)
if (cli !== undefined) symlinkSync(join(cli, '../../../..'), join(folder, 'clis'))
Object.assign(process.env, { TMPDIR: folder, MUSTER_CLIS: join(folder, 'clis'), MUSTER_TESTS_RUN: 'built' })
try {
  const vitest = await startVitest('test', [], {
    config: false,
    watch: false,
    include: ['test/support/journal-recorder.ts'],
    pool: 'forks',
    testTimeout: 300_000,
  })
  await vitest?.close()
} finally {
  if (existsSync(folder)) rmSync(folder, { recursive: true, force: true })
}
