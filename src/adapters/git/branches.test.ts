import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { commitFiles, put, repository, runGit } from '../../../test/support/git-repository.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { systemClock } from '../system/clock.ts'
import { systemProcesses } from '../system/processes.ts'
import { gitBranches } from './branches.ts'

const { signal } = new AbortController()
const branches = gitBranches({ processes: systemProcesses(systemClock), clock: systemClock })

/** A repository, and a work tree of a task in it. */
async function opened(dir = repository()) {
  const path = join(realpathSync(tempFolder('muster tree ')), 'task')
  const tree = { path, branch: 'muster/task', base: runGit(dir, 'rev-parse', 'HEAD') }
  await branches.openWorktree(dir, tree, signal)
  return { dir, tree, path, again: () => branches.openWorktree(dir, tree, signal) }
}

const read = (...parts: string[]) => readFileSync(join(...parts), 'utf8')
const gitFolder = (path: string) => runGit(path, 'rev-parse', '--absolute-git-dir')

test('[COL-25] head tells root, commit, branch, whether all is committed, and where the folder is', async () => {
  const dir = realpathSync(repository(join(tempFolder(), 'a b ü')))
  put(dir, { 'packages/one/a.txt': 'a', 'packages/two/b.txt': 'b' })
  const commit = commitFiles(dir, {})
  const head = (folder: string) => branches.head(folder, signal)
  expect(await head(join(dir, 'packages', 'two'))).toEqual({
    root: dir,
    commit,
    branch: 'main',
    isClean: true,
    inside: 'packages/two',
  })
  put(dir, { 'new.txt': 'x' })
  runGit(dir, 'checkout', '-q', '--detach')
  expect(await head(dir)).toMatchObject({ branch: null, isClean: false, inside: '' })
})

test('[COL-25] head says what to do outside of a repository, before the first commit and in that of another user', async () => {
  const empty = tempFolder()
  await expect(branches.head(empty, signal)).rejects.toMatchObject({ code: 'conflict' })
  runGit(empty, 'init', '-q')
  await expect(branches.head(empty, signal)).rejects.toThrow('no commit yet')
  await expect(branches.head(join(repository(), '.git'), signal)).rejects.toMatchObject({ code: 'conflict' })
  const bin = tempFolder()
  const real = runGit('/', '--exec-path')
  put(bin, { git: `#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec "${real}/git" "$@"\n` })
  chmodSync(join(bin, 'git'), 0o755)
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
  const refusal = branches.head(repositoryBy(real), signal)
  await expect(refusal).rejects.toMatchObject({
    code: 'denied',
    message: expect.stringContaining('safe.directory'),
  })
  vi.unstubAllEnvs()
})

/** Made while the git of the path takes every repository for another user's. */
function repositoryBy(real: string): string {
  const path = process.env.PATH ?? ''
  vi.stubEnv('PATH', `${real}:${path}`)
  const dir = repository()
  vi.stubEnv('PATH', path)
  return dir
}

test('[SM-97] a work tree is made, and taken up as it is when it is there', async () => {
  const { dir, path, tree, again } = await opened(repository(join(tempFolder(), 'with space')))
  expect(runGit(path, 'symbolic-ref', '--short', 'HEAD')).toBe('muster/task')
  put(path, { 'half.txt': 'not committed' })
  const made = commitFiles(path, { 'done.txt': 'done' })
  put(path, { 'kept.txt': 'edited' })
  await again()
  expect(runGit(path, 'rev-parse', 'HEAD')).toBe(made)
  expect(read(path, 'kept.txt')).toBe('edited')
  const open = (more: object) => branches.openWorktree(dir, { ...tree, ...more }, signal)
  await expect(open({ path: `${path}-2` })).rejects.toThrow('checked out in')
  const later = commitFiles(dir, { 'user.txt': 'x' })
  await expect(open({ base: later })).rejects.toMatchObject({ code: 'conflict' })
  await expect(open({ branch: 'a..b' })).rejects.toMatchObject({ code: 'invalid' })
  runGit(path, 'checkout', '-q', '-b', 'elsewhere', '-f')
  await expect(again()).rejects.toThrow('is on elsewhere')
})

test('[SM-97] a work tree is opened after every half of its making', async () => {
  const { dir, path, tree, again } = await opened()
  const made = commitFiles(path, { 'done.txt': 'done' })
  const stands = () => [
    runGit(path, 'rev-parse', 'HEAD'),
    runGit(path, 'status', '--porcelain'),
    read(path, 'done.txt'),
  ]
  const whole = [made, '', 'done']
  rmSync(path, { recursive: true })
  await again()
  expect(stands()).toEqual(whole)

  // Git was killed while it wrote the files.
  put(gitFolder(path), { locked: 'initializing', 'index.lock': '' })
  rmSync(join(path, 'kept.txt'))
  await again()
  expect(stands()).toEqual(whole)

  // Killed before the folder led anywhere.
  put(gitFolder(path), { locked: 'initializing' })
  rmSync(path, { recursive: true })
  mkdirSync(path)
  await again()
  expect(stands()).toEqual(whole)

  // The branch without its work tree, and an empty shell in its place.
  runGit(dir, 'worktree', 'remove', path)
  mkdirSync(path)
  writeFileSync(join(path, '.git'), `gitdir: ${dir}/.git/worktrees/task\n`)
  await again()
  expect(stands()).toEqual(whole)

  // Its .git file was deleted, and work is in it.
  rmSync(join(path, '.git'))
  put(path, { 'work.txt': 'work' })
  await again()
  expect(runGit(path, 'status', '--porcelain')).toBe('?? work.txt')

  const foreign = join(tempFolder(), 'foreign')
  put(foreign, { 'mine.txt': 'mine' })
  const refused = branches.openWorktree(dir, { ...tree, branch: 'muster/other', path: foreign }, signal)
  await expect(refused).rejects.toMatchObject({ code: 'conflict' })
  expect(runGit(dir, 'branch', '--list', 'muster/other')).toBe('')
  expect(read(foreign, 'mine.txt')).toBe('mine')
})

test('[SM-97] a work tree of a work tree, and a repository that is sparse', async () => {
  const dir = repository()
  commitFiles(dir, { 'in/a.txt': 'a', 'out/b.txt': 'b' })
  runGit(dir, 'worktree', 'add', '-q', '-b', 'linked', join(dir, '..', `${dir.split('/').pop()}-linked`))
  const linked = realpathSync(`${dir}-linked`)
  runGit(linked, 'sparse-checkout', 'set', 'in')
  const { path } = await opened(linked)
  expect((await branches.head(path, signal)).root).toBe(path)
  runGit(path, 'sparse-checkout', 'set', 'in')
  expect(existsSync(join(path, 'out'))).toBe(false)
  put(path, { 'in/new.txt': 'new' })
  const base = runGit(path, 'rev-parse', 'HEAD')
  const { files } = await branches.changes(path, { from: base }, signal)
  expect(files.map((file) => file.path)).toEqual(['in/new.txt'])
  const commit = await branches.commitAll(path, 'sparse', signal)
  expect(runGit(path, 'ls-tree', '-r', '--name-only', commit ?? '').split('\n')).toContain('out/b.txt')
  rmSync(`${dir}-linked`, { recursive: true })
})

test('[COL-26] all that is not ignored is committed by Muster, and nothing of the user is asked or run', async () => {
  const dir = repository()
  put(dir, {
    '.git/hooks/pre-commit': '#!/bin/sh\nexit 1\n',
    '.git/hooks/post-commit': '#!/bin/sh\ntouch ran\n',
  })
  for (const hook of ['pre-commit', 'post-commit']) chmodSync(join(dir, '.git/hooks', hook), 0o755)
  for (const [key, value] of Object.entries({
    'commit.gpgSign': 'true',
    'gpg.program': '/bin/false',
    'core.editor': '/bin/false',
    'user.useConfigOnly': 'true',
    'core.safecrlf': 'true',
    'core.autocrlf': 'true',
  }))
    runGit(dir, 'config', key, value)
  runGit(dir, 'config', '--unset', 'user.name')
  runGit(dir, 'config', '--unset', 'user.email')
  const { path, tree } = await opened(dir)
  put(dir, { 'user.txt': 'the work of the user' })
  runGit(dir, 'add', 'user.txt')
  const before = [runGit(dir, 'status', '--porcelain'), runGit(dir, 'rev-parse', 'HEAD')]
  expect(await branches.commitAll(path, 'nothing', signal)).toBeUndefined()
  put(path, { 'new.txt': 'mixed\nends\r\n', 'ignored.txt': 'secret', ' "q"\n-ü.txt': 'x' })
  rmSync(join(path, 'kept.txt'))
  const message = 'Task 1: all\n\n# not a comment\n'
  const commit = await branches.commitAll(path, message, signal)
  expect(runGit(path, 'log', '-1', '--format=%H %an <%ae> %cn %P', 'muster/task')).toBe(
    `${commit} Muster <muster@localhost> Muster ${tree.base}`,
  )
  expect(runGit(path, 'log', '-1', '--format=%B')).toContain('# not a comment')
  const names = runGit(path, 'ls-tree', '-r', '-z', '--name-only', 'HEAD').split('\0')
  expect(names.sort()).toEqual(['', ' "q"\n-ü.txt', '.gitignore', 'new.txt'])
  expect(existsSync(join(path, 'ran'))).toBe(false)
  expect([runGit(dir, 'status', '--porcelain'), runGit(dir, 'rev-parse', 'HEAD')]).toEqual(before)
  expect(await branches.commitAll(path, message, signal)).toBe(commit)
  expect(await branches.commitAll(path, 'other words', signal)).toBeUndefined()
})

test('[COL-26] a commit is made over the locks of a git that was killed, and waits for one that works', async () => {
  const { dir, path } = await opened()
  put(path, { 'new.txt': 'x' })
  put(gitFolder(path), { 'index.lock': '', 'HEAD.lock': '' })
  put(join(dir, '.git/refs/heads/muster'), { 'task.lock': '' })
  const list = vi.fn(async () =>
    list.mock.calls.length < 3 ? [{ ...other, command: `git -C ${path} add -A` }] : [other],
  )
  const other = { pid: 1, parent: 0, group: 0, startedAtMs: 0, rssBytes: 0, cpuMs: 0, command: 'digit -C' }
  const sleep = vi.fn(async () => {})
  const waiting = gitBranches({ processes: { list }, clock: { monotonic: () => 0, sleep } })
  expect(await waiting.commitAll(path, 'first', signal)).toBe(runGit(path, 'rev-parse', 'HEAD'))
  expect(sleep).toHaveBeenCalledTimes(2)

  // A git that never ends is left alone, and so is its lock.
  put(gitFolder(path), { 'index.lock': '' })
  let now = 0
  const stuck = gitBranches({
    processes: { list: async () => [{ ...other, command: `/usr/bin/git -C ${path} gc` }] },
    clock: { monotonic: () => (now += 10_000), sleep },
  })
  await expect(stuck.commitAll(path, 'second', signal)).rejects.toMatchObject({ code: 'timeout' })
  expect(existsSync(join(gitFolder(path), 'index.lock'))).toBe(true)
})

test('[COL-26] what is no work tree of ours is never written to', async () => {
  const { dir, path } = await opened()
  const inside = join(dir, 'ignored.txt')
  mkdirSync(inside)
  const tree = { path: join(realpathSync(inside), 'tree'), branch: 'muster/two', base: 'HEAD' }
  await branches.openWorktree(dir, tree, signal)
  rmSync(join(tree.path, '.git'))
  put(dir, { 'user.txt': 'x' })
  put(path, { 'sub/user.txt': 'x' })
  for (const folder of [dir, tree.path, join(path, '..'), join(path, 'sub')]) {
    await expect(branches.commitAll(folder, 'no', signal)).rejects.toMatchObject({ code: 'conflict' })
    const restore = branches.restore(folder, { commit: 'HEAD', files: ['user.txt'] }, signal)
    await expect(restore).rejects.toMatchObject({ code: 'conflict' })
  }
  expect(runGit(dir, 'status', '--porcelain')).toBe('?? user.txt')
  runGit(path, 'checkout', '-q', '--detach')
  await expect(branches.commitAll(path, 'no', signal)).rejects.toThrow('on no branch')
})

test('[COL-26] changes: names of every kind, files that are not text, renames, and files that are tracked though ignored', async () => {
  const { path } = await opened()
  for (const [key, value] of [
    ['diff.noprefix', 'true'],
    ['diff.external', '/bin/false'],
    ['color.ui', 'always'],
  ])
    runGit(path, 'config', key ?? '', value ?? '')
  put(path, { 'ignored.txt': 'kept all the same' })
  runGit(path, 'add', '-f', 'ignored.txt')
  const from = commitFiles(path, { 'old name.txt': 'a\nb\nc\n' }, 'start')
  runGit(path, 'mv', 'old name.txt', 'ünew "name"\t\n.txt')
  put(path, { 'kept.txt': 'one\ntwo\n' })
  writeFileSync(join(path, 'image.bin'), Buffer.from([0, 1, 2, 0]))
  chmodSync(join(path, '.gitignore'), 0o755)
  const expected = [
    { path: '.gitignore', change: 'modified', added: 0, removed: 0 },
    { path: 'image.bin', change: 'created', added: null, removed: null },
    { path: 'kept.txt', change: 'modified', added: 1, removed: 0 },
    { path: 'old name.txt', change: 'deleted', added: 0, removed: 3 },
    { path: 'ünew "name"\t\n.txt', change: 'created', added: 3, removed: 0 },
  ]
  const now = await branches.changes(path, { from }, signal)
  expect(now.files).toEqual(expected)
  expect(now.diff).toContain('--- a/kept.txt\n+++ b/kept.txt')
  const to = (await branches.commitAll(path, 'end', signal)) ?? ''
  expect(await branches.changes(path, { from, to }, signal)).toEqual(now)
})

test('[COL-26] a change of the same size and time as what git knows is not missed', async () => {
  const { path } = await opened()
  runGit(path, 'config', 'core.trustctime', 'false')
  const old = (file: string) => utimesSync(file, 1e9, 1e9)
  put(path, { 'same.txt': 'aaa' })
  old(join(path, 'same.txt'))
  const from = commitFiles(path, {}, 'start')
  put(path, { 'same.txt': 'bbb' })
  old(join(path, 'same.txt'))
  old(join(gitFolder(path), 'index'))
  const { files } = await branches.changes(path, { from }, signal)
  expect(files).toEqual([{ path: 'same.txt', change: 'modified', added: 1, removed: 1 }])
})

test('[COL-26] restore: changed, deleted, created, links, modes and folders, and nothing through a link', async () => {
  const { path } = await opened()
  put(path, { 'src/a.txt': 'a', 'src/b.txt': 'b', 'was a file': 'file', run: 'x' })
  symlinkSync('src', join(path, 'link'))
  chmodSync(join(path, 'run'), 0o755)
  const commit = commitFiles(path, {}, 'start')
  const outside = tempFolder()
  put(outside, { 'a.txt': 'of somebody else', 'new.txt': 'of somebody else' })
  put(path, { 'kept.txt': 'in scope', 'made/deep/new.txt': 'n', ':(top)kept.txt': 'n' })
  chmodSync(join(path, 'run'), 0o644)
  rmSync(join(path, 'link'))
  writeFileSync(join(path, 'link'), 'a file')
  rmSync(join(path, 'was a file'))
  put(path, { 'was a file/x.txt': 'x' })
  rmSync(join(path, 'src'), { recursive: true })
  symlinkSync(outside, join(path, 'src'))
  runGit(path, 'add', 'made', 'was a file/x.txt')
  const made = [':(top)kept.txt', 'made/deep/new.txt', 'was a file/x.txt', 'src', 'src/new.txt']
  const files = [...made, 'src/a.txt', 'src/b.txt', 'link', 'run', 'was a file', 'never there']
  for (const round of [1, 2]) {
    await branches.restore(path, { commit, files }, signal)
    expect(runGit(path, 'status', '--porcelain'), `round ${round}`).toBe(' M kept.txt')
  }
  expect(readlinkSync(join(path, 'link'))).toBe('src')
  expect(lstatSync(join(path, 'run')).mode & 0o111).toBe(0o111)
  expect(existsSync(join(path, 'made'))).toBe(false)
  expect([read(outside, 'a.txt'), read(outside, 'new.txt')]).toEqual(['of somebody else', 'of somebody else'])
  for (const bad of ['../x', '/etc/passwd', '', '.git/config', 'a/../../x', 'src/'])
    await expect(branches.restore(path, { commit, files: [bad] }, signal)).rejects.toMatchObject({
      code: 'invalid',
    })
})

test('[SM-97] a work tree is closed with its branch kept; what is in no commit stays', async () => {
  const { dir, path, again } = await opened()
  const close = () => branches.closeWorktree(dir, path, signal)
  put(path, { 'new.txt': 'x', 'ignored.txt': 'built' })
  await expect(close()).rejects.toMatchObject({ code: 'conflict' })
  const commit = await branches.commitAll(path, 'all', signal)
  runGit(path, 'checkout', '-q', '--detach')
  commitFiles(path, { 'more.txt': 'x' })
  await expect(close()).rejects.toThrow('on no branch')
  runGit(path, 'checkout', '-q', 'muster/task')
  await close()
  await close()
  expect([existsSync(path), runGit(dir, 'worktree', 'list').split('\n').length]).toEqual([false, 1])
  expect(runGit(dir, 'rev-parse', 'muster/task')).toBe(commit)

  // Cut off after it was set aside, and when only git still knew of it.
  await again()
  renameSync(path, `${path}.muster-closing`)
  await close()
  await again()
  rmSync(path, { recursive: true })
  await close()
  expect([existsSync(`${path}.muster-closing`), runGit(dir, 'worktree', 'list').split('\n').length]).toEqual([
    false,
    1,
  ])
})

test('[SM-97] modules are left alone, and commits that only a work tree has of one are not lost', async () => {
  const [dir, library] = [repository(), repository()]
  const allow = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet']
  runGit(dir, ...allow, 'add', library, 'library')
  const base = commitFiles(dir, {}, 'with a module')
  runGit(dir, 'config', 'submodule.recurse', 'true')
  const { path } = await opened(dir)
  expect((await branches.changes(path, { from: base }, signal)).files).toEqual([])
  expect(await branches.commitAll(path, 'nothing', signal)).toBeUndefined()
  runGit(path, ...allow, 'update', '--init')
  runGit(join(path, 'library'), 'config', 'user.email', 'a@b')
  runGit(join(path, 'library'), 'config', 'user.name', 'a')
  const close = () => branches.closeWorktree(dir, path, signal)
  commitFiles(join(path, 'library'), { 'kept.txt': 'changed' })
  const { files } = await branches.changes(path, { from: base }, signal)
  expect(files.map((file) => file.path)).toEqual(['library'])
  await branches.commitAll(path, 'a later module', signal)
  await expect(close()).rejects.toThrow('on no remote')
  runGit(join(path, 'library'), 'push', '-q', 'origin', 'HEAD:refs/heads/later')
  await close()
  expect([existsSync(path), existsSync(join(dir, 'library/kept.txt'))]).toEqual([false, true])
})

test('[SM-97] a branch is dropped only when its commits are on another', async () => {
  const { dir, path } = await opened()
  const drop = () => branches.dropBranch(dir, 'muster/task', signal)
  put(path, { 'new.txt': 'x' })
  await branches.commitAll(path, 'all', signal)
  runGit(dir, 'merge', '-q', 'muster/task')
  expect(await drop()).toBe(false)
  put(path, { 'new.txt': 'y' })
  await branches.commitAll(path, 'more', signal)
  await branches.closeWorktree(dir, path, signal)
  expect(await drop()).toBe(false)
  runGit(dir, 'merge', '-q', 'muster/task')
  expect([await drop(), await drop()]).toEqual([true, true])
  expect(runGit(dir, 'branch', '--list', 'muster/*')).toBe('')
})
