import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { privateHome, writableFor } from './bwrap-isolation.ts'

function places() {
  const root = tempFolder()
  const [home, state, work] = ['home', 'home/state', 'home/work'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [home, state, work]) mkdirSync(path)
  const around = { env: { HOME: home }, extra: ['~/cache', '~/missing'], hidden: [state] }
  return { root, home, state, work, around }
}

test('[MUS-210] what may be written is the folder, what the configuration adds, and a link is what it leads to', async () => {
  const { home, work, around } = places()
  mkdirSync(join(home, 'cache'))
  symlinkSync(work, join(home, 'link'))
  expect(await writableFor({ workingDir: join(home, 'link') }, around)).toEqual([work, join(home, 'cache')])
})

test('[MUS-210] of a linked work tree the repository may be written too', async () => {
  const { home, work, around } = places()
  const git = (...args: string[]) => execFileSync('git', ['-C', work, ...args], { stdio: 'pipe' })
  git('init', '-q')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x')
  git('worktree', 'add', '-q', join(home, 'tree'))
  expect(await writableFor({ workingDir: join(home, 'tree') }, { ...around, extra: [] })).toEqual([
    join(home, 'tree'),
    join(work, '.git'),
  ])
  const made = { workingDir: join(home, 'state', 'worktrees', 'x'), treeOf: work }
  expect(await writableFor(made, { ...around, extra: [] })).toEqual([made.workingDir, join(work, '.git')])
})

test('[MUS-210] a folder that holds what is guarded, or lies in what is hidden, is refused', async () => {
  const { root, home, state, around } = places()
  mkdirSync(join(state, 'inner'))
  symlinkSync(home, join(root, 'link'))
  for (const path of ['/', root, home, state, join(state, 'inner'), join(root, 'link')])
    await expect(writableFor({ workingDir: path }, around), path).rejects.toMatchObject({ code: 'invalid' })
})

test('[MUS-210] a folder of settings: shared entries as they are, files copied, folders read-only, fresh ones left out', async () => {
  const { root, home } = places()
  for (const name of ['plugins', 'todos']) mkdirSync(join(home, name))
  writeFileSync(join(home, 'settings.json'), '{}')
  writeFileSync(join(home, 'login.json'), 'secret')
  writeFileSync(join(root, 'beside.json'), 'beside')
  const own = join(root, 'own')
  const shared = [
    { name: 'projects', isFolder: true },
    { name: 'login.json', isFolder: false },
  ]
  const copied = [
    { from: join(root, 'beside.json'), name: '.beside.json' },
    { from: join(root, 'missing.json'), name: 'missing.json' },
  ]
  const mounts = await privateHome({ path: home, shared, fresh: ['todos', 'state', 'work'], copied }, own)
  const pairs = Array.from({ length: mounts.length / 3 }, (_, i) => mounts.slice(3 * i, 3 * i + 2).join(' '))
  expect(pairs).toEqual([
    `--bind ${own}`,
    ...['login.json', 'plugins', 'projects'].map(
      (name) => `${name === 'plugins' ? '--ro-bind' : '--bind'} ${join(home, name)}`,
    ),
  ])
  const copies = execFileSync('ls', ['-A', own], { encoding: 'utf8' }).trim().split('\n')
  expect(copies).toEqual(['.beside.json', 'settings.json'])
})
