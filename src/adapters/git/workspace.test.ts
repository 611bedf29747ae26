import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { gitWorkspace } from './workspace.ts'

const { signal } = new AbortController()
const run = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' })

function repository(): string {
  const dir = tempFolder('muster-git-test-')
  run(dir, 'init', '-q', '-b', 'main')
  run(dir, 'config', 'user.email', 'a@b')
  run(dir, 'config', 'user.name', 'a')
  writeFileSync(join(dir, 'kept.txt'), 'one\n')
  writeFileSync(join(dir, '.gitignore'), 'ignored.txt\n')
  run(dir, 'add', '-A')
  run(dir, 'commit', '-qm', 'first')
  return dir
}

const stateOf = (dir: string) => [
  run(dir, 'status', '--porcelain'),
  run(dir, 'rev-parse', 'HEAD'),
  run(dir, 'branch', '--list'),
  run(dir, 'diff', '--cached'),
]

test('[MUS-233] a snapshot keeps untracked files and changes neither work tree, index nor branch', async () => {
  const dir = repository()
  writeFileSync(join(dir, 'kept.txt'), 'one\ntwo\n')
  writeFileSync(join(dir, 'new ü.txt'), 'new\n')
  writeFileSync(join(dir, 'ignored.txt'), 'secret\n')
  writeFileSync(join(dir, 'staged.txt'), 'staged\n')
  run(dir, 'add', 'staged.txt')
  const before = stateOf(dir)
  const kept = await gitWorkspace.snapshot(dir, 'refs/muster/x/1', signal)
  expect(stateOf(dir)).toEqual(before)
  expect(kept).toMatchObject({ branch: 'main', head: run(dir, 'rev-parse', 'HEAD').trim() })
  const files = run(dir, '-c', 'core.quotePath=false', 'ls-tree', '-r', '--name-only', 'refs/muster/x/1')
  expect(files.trim().split('\n').sort()).toEqual(['.gitignore', 'kept.txt', 'new ü.txt', 'staged.txt'])
})

test('[MUS-233] a diff between two snapshots, and from one to the work tree, counts lines and new files', async () => {
  const dir = repository()
  const first = await gitWorkspace.snapshot(dir, 'refs/muster/x/1', signal)
  writeFileSync(join(dir, 'kept.txt'), 'one\ntwo\n')
  mkdirSync(join(dir, 'sub'))
  writeFileSync(join(dir, 'sub', 'new.txt'), 'a\nb\n')
  const second = await gitWorkspace.snapshot(dir, 'refs/muster/x/2', signal)
  rmSync(join(dir, 'kept.txt'))
  writeFileSync(join(dir, 'image.bin'), Buffer.from([0, 1, 2, 0]))
  const from = first?.commit ?? ''
  const between = await gitWorkspace.diff(dir, { from, to: second?.commit ?? '' }, signal)
  expect(between.files).toEqual([
    { path: 'kept.txt', change: 'modified', added: 1, removed: 0 },
    { path: 'sub/new.txt', change: 'created', added: 2, removed: 0 },
  ])
  expect(between.diff).toContain('+two')
  const now = await gitWorkspace.diff(dir, { from }, signal)
  expect(now.files).toEqual([
    { path: 'image.bin', change: 'created', added: null, removed: null },
    { path: 'kept.txt', change: 'deleted', added: 0, removed: 1 },
    { path: 'sub/new.txt', change: 'created', added: 2, removed: 0 },
  ])
})

test('[MUS-233] outside of a repository there is nothing to keep; a new work tree begins at HEAD on its own branch', async () => {
  const outside = tempFolder('muster-no-git-')
  expect(await gitWorkspace.snapshot(outside, 'refs/muster/x/1', signal)).toBeUndefined()
  const dir = repository()
  const path = join(tempFolder('muster-tree-'), 'tree')
  const added = await gitWorkspace.addWorktree(dir, { path, branch: 'muster/one' }, signal)
  expect(added.base).toBe(run(dir, 'rev-parse', 'HEAD').trim())
  expect(readFileSync(join(path, 'kept.txt'), 'utf8')).toBe('one\n')
  await expect(
    gitWorkspace.addWorktree(dir, { path: `${path}2`, branch: 'muster/one' }, signal),
  ).rejects.toThrow(/already exists/)
})
