import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository, runGit } from '../../../test/support/git-repository.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { systemClock } from '../system/clock.ts'
import { systemProcesses } from '../system/processes.ts'
import { gitBranches } from './branches.ts'

const { signal } = new AbortController()
const branches = gitBranches({ processes: systemProcesses(systemClock), clock: systemClock })

test('[COL-30] many work trees of one repository are opened and closed at the same time', async () => {
  const dir = repository()
  const base = runGit(dir, 'rev-parse', 'HEAD')
  const folder = realpathSync(tempFolder('muster-many-'))
  const trees = Array.from({ length: 12 }, (_, i) => ({
    path: join(folder, `t${i}`),
    branch: `muster/t${i}`,
    base,
  }))
  await Promise.all(trees.map((tree) => branches.openWorktree(dir, tree, signal)))
  expect(trees.every(({ path }) => existsSync(join(path, '.git')))).toBe(true)
  await Promise.all(trees.map(({ path }) => branches.closeWorktree(dir, path, signal)))
  expect(runGit(dir, 'worktree', 'list').split('\n')).toHaveLength(1)
})
