import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository, runGit as run } from '../../../test/support/git-repository.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { gitWorkspace } from './workspace.ts'

const { signal } = new AbortController()
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

test('[MUS-233] outside of a repository there is nothing to keep', async () => {
  const outside = tempFolder('muster-no-git-')
  expect(await gitWorkspace.snapshot(outside, 'refs/muster/x/1', signal)).toBeUndefined()
  expect(await gitWorkspace.unsaved(outside, signal)).toBeUndefined()
})

/** A repository and a new work tree of it. */
async function worktree() {
  const dir = repository()
  mkdirSync(join(dir, 'sub'))
  const path = join(tempFolder('muster-tree-'), 'tree')
  const { root, base } = await gitWorkspace.planWorktree(dir, 'muster/one', signal)
  const tree = { path, branch: 'muster/one', base }
  await gitWorkspace.addWorktree(root, tree, signal)
  const commit = (text: string) => {
    writeFileSync(join(path, 'kept.txt'), text)
    run(path, 'commit', '-qam', text)
  }
  return { dir, tree, commit }
}

test('[SM-97] a new work tree begins at HEAD on a branch of its own; what cannot be is refused before anything is made', async () => {
  const { dir, tree } = await worktree()
  expect(tree.base).toBe(run(dir, 'rev-parse', 'HEAD').trim())
  expect(readFileSync(join(tree.path, 'kept.txt'), 'utf8')).toBe('one\n')
  const plan = (branch: string, folder = dir) => gitWorkspace.planWorktree(folder, branch, signal)
  expect(await plan('two', join(dir, 'sub'))).toMatchObject({ inside: 'sub' })
  await expect(plan('muster/one')).rejects.toMatchObject({ code: 'conflict' })
  for (const bad of ['-x', 'a b', 'a..b', ''])
    await expect(plan(bad)).rejects.toMatchObject({ code: 'invalid' })
  await expect(plan('two', tempFolder('muster-no-git-'))).rejects.toMatchObject({ code: 'conflict' })
})

test('[SM-97] a work tree goes only when all in it is committed and on another branch', async () => {
  const untouched = await worktree()
  expect(await gitWorkspace.removeWorktree(untouched.tree, signal)).toBe(true)
  expect(existsSync(untouched.tree.path)).toBe(false)
  expect(run(untouched.dir, 'branch', '--list', 'muster/one')).toBe('')

  const { dir, tree, commit } = await worktree()
  writeFileSync(join(tree.path, 'new.txt'), 'new')
  expect(await gitWorkspace.removeWorktree(tree, signal)).toBe(false)
  rmSync(join(tree.path, 'new.txt'))
  commit('two\n')
  expect(await gitWorkspace.removeWorktree(tree, signal)).toBe(false)
  run(tree.path, 'checkout', '-q', '--detach', tree.base)
  expect(await gitWorkspace.removeWorktree(tree, signal)).toBe(false)
  expect(existsSync(join(tree.path, 'kept.txt'))).toBe(true)
  run(dir, 'merge', '-q', 'muster/one')
  expect(await gitWorkspace.removeWorktree(tree, signal)).toBe(true)
  expect(existsSync(tree.path)).toBe(false)
  expect(readFileSync(join(dir, 'kept.txt'), 'utf8')).toBe('two\n')
})

test('[SM-85] unsaved work: files in no commit, and commits on no remote', async () => {
  const dir = repository()
  const unsaved = () => gitWorkspace.unsaved(dir, signal)
  expect(await unsaved()).toMatchObject({ changed: [], branch: 'main', unpushed: 0 })
  writeFileSync(join(dir, 'kept.txt'), 'two\n')
  writeFileSync(join(dir, 'new ü.txt'), 'new\n')
  expect(await unsaved()).toMatchObject({ changed: ['kept.txt', 'new ü.txt'] })
  const remote = tempFolder('muster-remote-')
  run(remote, 'init', '-q', '--bare')
  run(dir, 'remote', 'add', 'origin', remote)
  run(dir, 'push', '-q', 'origin', 'main')
  run(dir, 'commit', '-qam', 'second')
  expect(await unsaved()).toMatchObject({ changed: ['new ü.txt'], unpushed: 1 })
})
