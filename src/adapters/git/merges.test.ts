import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitFiles, put, repository, runGit } from '../../../test/support/git-repository.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { systemClock } from '../system/clock.ts'
import { systemProcesses } from '../system/processes.ts'
import { gitBranches } from './branches.ts'

const { signal } = new AbortController()
const branches = gitBranches({ processes: systemProcesses(systemClock), clock: systemClock })
const read = (...parts: string[]) => readFileSync(join(...parts), 'utf8')
const gitFolder = (path: string) => runGit(path, 'rev-parse', '--absolute-git-dir')
const merge = { branch: 'muster/task', message: 'Merge the task\n\nIts words.' }
const text = '1\n2\n3\n4\n5\n6\n7\n8\n9\n'

/** The work tree of a crew and that of a task, both begun at the same commit. */
async function crew() {
  const dir = repository()
  commitFiles(dir, { 'both.txt': text, 'gone.txt': 'x\n', 'image.bin': '\0one' })
  const base = runGit(dir, 'rev-parse', 'HEAD')
  const folder = realpathSync(tempFolder('muster crew '))
  const open = async (name: string) => {
    await branches.openWorktree(dir, { path: join(folder, name), branch: `muster/${name}`, base }, signal)
    return join(folder, name)
  }
  const [path, task] = [await open('crew'), await open('task')]
  return { dir, path, task, merge: () => branches.merge(path, merge, signal) }
}

/** The same, with a merge that conflicts in a text, in one that is deleted there, and in a file that is not text. */
async function conflicting() {
  const all = await crew()
  rmSync(join(all.task, 'gone.txt'))
  commitFiles(all.task, { 'both.txt': text.replace('5', 'task'), 'image.bin': '\0task', 'task.txt': 't' })
  commitFiles(all.path, { 'both.txt': text.replace('5', 'crew'), 'image.bin': '\0crew', 'gone.txt': 'y\n' })
  return { ...all, conclude: () => branches.concludeMerge(all.path, merge, signal) }
}

const three = { conflicts: ['both.txt', 'gone.txt', 'image.bin'] }

test('[COL-26] a branch is merged by a commit of its own, once', async () => {
  const { path, task, ...it } = await crew()
  expect(await it.merge()).toEqual({ merged: runGit(path, 'rev-parse', 'HEAD') })
  const tip = commitFiles(task, { 'task.txt': 't', 'both.txt': text.replace('1', 'task') })
  const before = commitFiles(path, { 'both.txt': text.replace('9', 'crew') })
  runGit(path, 'config', 'merge.ff', 'only')
  const merged = runGit.bind(undefined, path, 'log', '-1', '--format=%H %an %P %B')
  const first = await it.merge()
  expect(merged()).toBe(`${'merged' in first && first.merged} Muster ${before} ${tip} ${merge.message}\n`)
  expect(read(path, 'both.txt')).toBe(text.replace('1', 'task').replace('9', 'crew'))
  expect(await it.merge()).toEqual(first)
  await expect(branches.merge(path, { ...merge, branch: 'nope' }, signal)).rejects.toMatchObject({
    code: 'not_found',
  })
  expect(await branches.merge(path, { ...merge, branch: tip }, signal)).toEqual(first)
})

test('[COL-26] conflicts stay in the work tree, are taken up, and are left until somebody resolved them', async () => {
  const { path, ...it } = await conflicting()
  expect(await it.merge()).toEqual(three)
  expect(read(path, 'both.txt')).toContain('>>>>>>> muster/task')
  expect(await it.merge()).toEqual(three)
  expect(await it.conclude()).toEqual(three)
  await expect(branches.commitAll(path, 'markers', signal)).rejects.toThrow('merge is in progress')
  // Told resolved, but it is not.
  runGit(path, 'add', 'both.txt')
  expect(await it.conclude()).toEqual(three)
  runGit(path, 'checkout', '-q', '--merge', 'both.txt')
  put(path, { 'both.txt': read(path, 'both.txt').replace(/>{7}.*\n/, '') })
  expect(await it.conclude()).toEqual(three)
  // By editing alone, by deleting, and by telling git.
  put(path, { 'both.txt': text.replace('5', 'both') })
  expect(await it.conclude()).toEqual({ conflicts: ['gone.txt', 'image.bin'] })
  rmSync(join(path, 'gone.txt'))
  runGit(path, 'add', 'image.bin')
  const concluded = await it.conclude()
  expect(concluded).toEqual({ merged: runGit(path, 'rev-parse', 'HEAD') })
  expect(runGit(path, 'log', '-1', '--format=%P').split(' ')).toHaveLength(2)
  expect(runGit(path, 'status', '--porcelain')).toBe('')
  expect(existsSync(join(path, 'gone.txt'))).toBe(false)
  expect(await it.conclude()).toEqual(concluded)
  expect(await it.merge()).toEqual(concluded)
})

test('[COL-26] a merge that an agent committed by itself is looked through for markers', async () => {
  const { path, ...it } = await conflicting()
  await it.merge()
  rmSync(join(path, 'gone.txt'))
  commitFiles(path, {}, 'I merged it')
  expect(await it.conclude()).toEqual({ conflicts: ['both.txt'] })
  put(path, { 'both.txt': text.replace('5', 'both') })
  expect(await it.conclude()).toEqual({ merged: runGit(path, 'rev-parse', 'HEAD') })
  expect(runGit(path, 'show', 'HEAD:both.txt')).toBe(text.replace('5', 'both').trimEnd())
})

test('[COL-26] one of two sides taken as it is counts as resolved, and lines like markers do not count against a file', async () => {
  const { path, task, ...it } = await crew()
  const lines = '<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> other\n'
  commitFiles(task, { 'both.txt': text.replace('5', 'task') })
  commitFiles(path, { 'both.txt': text.replace('5', 'crew'), 'lines.md': lines })
  await it.merge()
  put(path, { 'both.txt': text.replace('5', 'crew') })
  expect(await branches.concludeMerge(path, merge, signal)).toEqual({
    merged: runGit(path, 'rev-parse', 'HEAD'),
  })
})

test('[COL-26] an abandoned merge leaves the branch as it was', async () => {
  const { path, ...it } = await conflicting()
  const before = runGit(path, 'rev-parse', 'HEAD')
  await it.merge()
  put(path, { 'try.txt': 'a try', 'ignored.txt': 'built' })
  for (const _ of [1, 2]) await branches.abandonMerge(path, signal)
  expect([runGit(path, 'rev-parse', 'HEAD'), runGit(path, 'status', '--porcelain')]).toEqual([before, ''])
  expect(existsSync(join(path, 'ignored.txt'))).toBe(true)
  await expect(it.conclude()).rejects.toMatchObject({ code: 'conflict' })
  put(path, { 'work.txt': 'uncommitted files' })
  await branches.abandonMerge(path, signal)
  await expect(it.merge()).rejects.toThrow('uncommitted files')
  expect(read(path, 'work.txt')).toBe('uncommitted files')
})

test('[COL-26] a merge goes on after every half of it', async () => {
  const { path, ...it } = await conflicting()
  // Killed while git wrote the files: all was committed before, so these are of the merge.
  const head = runGit(path, 'rev-parse', 'HEAD')
  writeFileSync(join(gitFolder(path), 'muster-merge'), head)
  put(gitFolder(path), { 'index.lock': '' })
  put(path, { 'both.txt': 'half', 'task.txt': 'ha' })
  expect(await it.merge()).toEqual(three)
  // Killed after git noted the merge, before we knew.
  writeFileSync(join(gitFolder(path), 'muster-merge'), head)
  put(path, { 'both.txt': text.replace('5', 'both') })
  expect(await it.merge()).toEqual({ conflicts: ['gone.txt', 'image.bin'] })
  // Killed after the commit, before git forgot the merge and wrote the index.
  runGit(path, 'add', '-A')
  const folder = gitFolder(path)
  const [index, note] = [readFileSync(join(folder, 'index')), read(folder, 'MERGE_HEAD')]
  runGit(path, 'commit', '-qm', merge.message)
  writeFileSync(join(folder, 'index'), index)
  put(folder, { MERGE_HEAD: note, 'index.lock': '' })
  const merged = { merged: runGit(path, 'rev-parse', 'HEAD') }
  expect(await it.conclude()).toEqual(merged)
  expect(await it.merge()).toEqual(merged)
  expect(existsSync(join(folder, 'MERGE_HEAD'))).toBe(false)
  expect(runGit(path, 'status', '--porcelain')).toBe('')
})

test('[COL-26] the merge of another branch is not taken for this one', async () => {
  const { dir, path, ...it } = await conflicting()
  runGit(dir, 'branch', 'third', 'muster/task~1')
  await it.merge()
  commitFiles(dir, { 'x.txt': 'x' })
  await expect(branches.merge(path, { branch: 'main', message: 'm' }, signal)).rejects.toThrow(
    'another merge',
  )
})

/** A finished branch, and a branch of the user's to bring it into. */
async function finished() {
  const { dir, path } = await crew()
  put(path, { 'crew.txt': 'crew', 'both.txt': text.replace('5', 'crew') })
  const tip = (await branches.commitAll(path, 'work', signal)) ?? ''
  const land = (into = 'main') => branches.land(dir, { branch: 'muster/crew', into }, signal)
  const state = () => [runGit(dir, 'rev-parse', 'main'), runGit(dir, 'status', '--porcelain')]
  return { dir, tip, land, state }
}

test('[COL-29] a finished branch lands by going forward, also where the branch is checked out', async () => {
  const { dir, tip, land, state } = await finished()
  put(dir, { 'notes.txt': 'untracked', 'ignored.txt': 'built' })
  runGit(dir, 'branch', 'other')
  expect([await land('other'), await land('other')]).toEqual([tip, tip])
  expect(existsSync(join(dir, 'crew.txt'))).toBe(false)
  expect([await land(), await land()]).toEqual([tip, tip])
  expect(read(dir, 'crew.txt')).toBe('crew')
  expect(state()).toEqual([tip, '?? notes.txt'])
  await expect(land('nope')).rejects.toMatchObject({ code: 'not_found' })
})

test('[COL-29] a branch that went on meanwhile gets a merge commit, or a refusal that says what to do', async () => {
  const { dir, tip, land, state } = await finished()
  const user = commitFiles(dir, { 'user.txt': 'u' })
  const landed = await land()
  expect(runGit(dir, 'log', '-1', '--format=%H %P', 'main')).toBe(`${landed} ${user} ${tip}`)
  expect([state()[1], read(dir, 'user.txt'), read(dir, 'crew.txt')]).toEqual(['', 'u', 'crew'])
  expect(await land()).toBe(landed)

  const second = await finished()
  commitFiles(second.dir, { 'both.txt': text.replace('5', 'user') })
  const before = second.state()
  await expect(second.land()).rejects.toMatchObject({ code: 'conflict', details: { files: ['both.txt'] } })
  expect(second.state()).toEqual(before)
})

test('[COL-29] nothing of the user is lost by landing', async () => {
  const { dir, tip, land, state } = await finished()
  const refused = async (files: Record<string, string>, undo: () => void) => {
    put(dir, files)
    const before = [...state(), ...Object.keys(files).map((name) => read(dir, name))]
    await expect(land()).rejects.toMatchObject({ code: 'conflict' })
    expect([...state(), ...Object.keys(files).map((name) => read(dir, name))]).toEqual(before)
    undo()
  }
  const reset = () => runGit(dir, 'reset', '-q', '--hard')
  await refused({ 'both.txt': 'edited' }, reset)
  await refused({ 'kept.txt': 'edited, but not by the crew' }, reset)
  await refused({ 'crew.txt': 'untracked, and in the way' }, () => rmSync(join(dir, 'crew.txt')))
  put(dir, { '.git/info/exclude': 'crew.txt\n' })
  await refused({ 'crew.txt': 'ignored, and in the way' }, () => rmSync(join(dir, 'crew.txt')))
  put(dir, { '.git/index.lock': '' })
  await expect(land()).rejects.toThrow(/delete .*index\.lock/)
  rmSync(join(dir, '.git/index.lock'))
  put(dir, { '.git/info/exclude': '' })

  // Cut off with one file unlinked and one half written, of which there is a note; without it they may be the user's.
  rmSync(join(dir, 'both.txt'))
  put(dir, { 'crew.txt': 'cr' })
  await expect(land()).rejects.toMatchObject({ details: { files: ['both.txt', 'crew.txt'] } })
  put(dir, { '.git/muster-land': `${runGit(dir, 'rev-parse', 'main')} ${tip}` })
  rmSync(join(dir, 'crew.txt'))
  await refused({ 'both.txt': 'not cut short' }, () => rmSync(join(dir, 'both.txt')))
  put(dir, { 'crew.txt': 'cr' })
  expect(await land()).toBe(tip)
  expect(state()).toEqual([tip, ''])
  expect(existsSync(join(dir, '.git/muster-land'))).toBe(false)
  runGit(dir, 'reset', '-q', '--hard', 'HEAD~1')

  // Cut off while git wrote the files: what is there is what is to come.
  put(dir, { 'crew.txt': 'crew', 'both.txt': text.replace('5', 'crew') })
  expect(await land()).toBe(tip)
  expect(state()).toEqual([tip, ''])
})

test('[COL-29] a branch that is checked out in a folder that is gone is not moved behind its back', async () => {
  const { dir, land } = await finished()
  const away = join(realpathSync(tempFolder()), 'away')
  mkdirSync(away)
  runGit(dir, 'worktree', 'add', '-q', '-b', 'other', away)
  rmSync(away, { recursive: true })
  await expect(land('other')).rejects.toThrow('worktree prune')
})
