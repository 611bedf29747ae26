import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { ownTemporary, removeOrphanedTemporary } from './temporary-files.ts'

test('[MUS-235] what a killed process left among the temporary files is taken away, and nothing else', async () => {
  vi.stubEnv('TMPDIR', tempFolder('mown-'))
  const { pid: dead } = spawnSync(process.execPath, ['-e', ''])
  const own = await ownTemporary('bash')
  for (const name of [`muster-bash-${dead}-abcDEF`, `muster-git-${dead}-abc123`, 'muster-bash-of-a-person'])
    mkdirSync(join(tmpdir(), name))
  writeFileSync(join(tmpdir(), `muster-git-${dead}-abc123`, 'index'), '')
  await removeOrphanedTemporary()
  expect(existsSync(own)).toBe(true)
  expect(readdirSync(tmpdir()).map((name) => join(tmpdir(), name))).toEqual(
    [own, join(tmpdir(), 'muster-bash-of-a-person')].toSorted(),
  )
})
