import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { bwrapIsolation, privateHome, writableFor } from './bwrap-isolation.ts'

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

test('[MUS-316] a link to a work tree that no repository knows of opens nothing', async () => {
  const { home, state, work, around } = places()
  const admin = join(work, 'admin')
  mkdirSync(admin)
  writeFileSync(join(work, '.git'), `gitdir: ${admin}\n`)
  writeFileSync(join(admin, 'gitdir'), join(work, '.git'))
  for (const named of [home, state, '/', join(home, 'other')]) {
    writeFileSync(join(admin, 'commondir'), `${named}\n`)
    expect(await writableFor({ workingDir: work }, { ...around, extra: [] }), named).toEqual([work])
  }
  // A work tree of somebody else's, as it stands in their repository.
  const theirs = join(home, 'other', '.git', 'worktrees', 'tree')
  mkdirSync(theirs, { recursive: true })
  writeFileSync(join(theirs, 'commondir'), '../..\n')
  writeFileSync(join(theirs, 'gitdir'), join(home, 'tree', '.git'))
  writeFileSync(join(work, '.git'), `gitdir: ${theirs}\n`)
  expect(await writableFor({ workingDir: work }, { ...around, extra: [] })).toEqual([work])
})

test('[MUS-210] a folder that holds what is guarded, or lies in what is hidden, is refused', async () => {
  const { root, home, state, around } = places()
  mkdirSync(join(state, 'inner'))
  symlinkSync(home, join(root, 'link'))
  for (const path of ['/', root, home, state, join(state, 'inner'), join(root, 'link')])
    await expect(writableFor({ workingDir: path }, around), path).rejects.toMatchObject({ code: 'invalid' })
})

test('[MUS-210] a folder of settings: shared files as they are, others copied, folders read-only, fresh ones left out', async () => {
  const { root, home } = places()
  for (const name of ['plugins', 'todos']) mkdirSync(join(home, name))
  writeFileSync(join(home, 'settings.json'), '{}')
  writeFileSync(join(home, 'login.json'), 'secret')
  writeFileSync(join(root, 'beside.json'), 'beside')
  const own = join(root, 'own')
  const copied = [
    { from: join(root, 'beside.json'), name: '.beside.json' },
    { from: join(root, 'missing.json'), name: 'missing.json' },
  ]
  const records = { name: 'projects', folder: '-work', own: 'mine' }
  const fresh = ['todos', 'state', 'work']
  const mounts = await privateHome({ path: home, shared: ['login.json'], records, fresh, copied }, own)
  expect(pairsOf(mounts)).toEqual([
    `--bind ${own}`,
    `--bind ${home}/login.json`,
    `--ro-bind ${home}/plugins`,
    `--bind ${home}/projects/-work`,
  ])
  const copies = execFileSync('ls', ['-A', own], { encoding: 'utf8' }).trim().split('\n')
  expect(copies).toEqual(['.beside.json', 'settings.json'])
})

const pairsOf = (mounts: readonly string[]) =>
  Array.from({ length: mounts.length / 3 }, (_, i) => mounts.slice(3 * i, 3 * i + 2).join(' '))

test('[MUS-358] behind walls it writes its own record and none of others, and sees nothing of other places', async () => {
  const { home, work, root } = places()
  const all = join(home, '.cli', 'projects')
  const [here, there] = [join(all, '-work'), join(all, '-there')]
  for (const folder of [`${here}/theirs/subagents`, `${here}/mine`, there])
    mkdirSync(folder, { recursive: true })
  for (const file of [
    '-work/theirs.jsonl',
    '-work/theirs/subagents/agent-a.jsonl',
    '-work/mine.jsonl',
    '-there/x.jsonl',
  ])
    writeFileSync(join(all, file), 'as it was\n')
  symlinkSync('/etc/hostname', join(here, 'link.jsonl'))
  const records = { name: 'projects', folder: '-work', own: 'mine' }
  const isolation = bwrapIsolation({ hidden: [], readable: [], extra: () => [] })
  const line = [
    'for f in mine.jsonl theirs.jsonl theirs/subagents/agent-a.jsonl new.jsonl; do echo lie >> $P/-work/$f; done',
    'mv $P/-work/theirs.jsonl $P/-work/old; rm -f $P/-work/theirs.jsonl; mv $P/-work/theirs $P/-work/gone',
    'mkdir -p $P/-there; echo lie >> $P/-there/x.jsonl; ls $P',
  ].join('; ')
  const argv = await isolation.wrap(
    {
      argv: ['env', `P=${all}`, 'bash', '-c', line],
      workingDir: work,
      writable: [work],
      folder: mkdtempSync(join(root, 'session-')),
      homes: [{ path: join(home, '.cli'), shared: [], records, fresh: [], copied: [] }],
      path: process.env['PATH'] ?? '',
    },
    new AbortController().signal,
  )
  const [program = '', ...args] = argv
  execFileSync(program, args, { stdio: 'pipe' })
  const text = (file: string) => readFileSync(join(all, file), 'utf8')
  expect(text('-work/mine.jsonl')).toBe('as it was\nlie\n')
  expect(text('-work/new.jsonl')).toBe('lie\n')
  for (const file of ['-work/theirs.jsonl', '-work/theirs/subagents/agent-a.jsonl', '-there/x.jsonl'])
    expect(text(file), file).toBe('as it was\n')
})
