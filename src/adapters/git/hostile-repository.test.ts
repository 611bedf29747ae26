import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { commitFiles, put, repository, runGit } from '../../../test/support/git-repository.ts'
import {
  armoury,
  filterWeapons,
  hostileProject,
  plainWeapons,
  plantHooks,
  plantSettings,
  putFilesBack,
} from '../../../test/support/git-weapons.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { systemClock } from '../system/clock.ts'
import { systemProcesses } from '../system/processes.ts'
import { gitBranches } from './branches.ts'
import { repositoryDrivers, safeSettings } from './repository-settings.ts'
import { trustDrivers } from './trusted-drivers.ts'
import { gitWorkspace } from './workspace.ts'

const { signal } = new AbortController()
const branches = gitBranches({ processes: systemProcesses(systemClock), clock: systemClock })

/** Runs everything that the daemon does with git, in a repository and its work trees; answers what was refused. */
async function everyOperation(dir: string): Promise<readonly string[]> {
  const refused: string[] = []
  const attempt = async <T>(name: string, act: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await act()
    } catch (error) {
      refused.push(`${name}: ${(error as Error).message}`)
      return undefined
    }
  }
  const trees = realpathSync(tempFolder('muster-trees-'))
  const first = runGit(dir, 'rev-parse', 'HEAD~1')
  const base = runGit(dir, 'rev-parse', 'HEAD')
  put(dir, {
    'a.txt': 'changed\n',
    'b.clean': 'changed\n',
    'c.process': 'changed\n',
    'new.txt': 'n\n',
    'new.clean': 'n\n',
  })
  await attempt('head', () => branches.head(join(dir, 'sub'), signal))
  await attempt('root', () => gitWorkspace.root(dir, signal))
  await attempt('unsaved', () => gitWorkspace.unsaved(dir, signal))
  await attempt('review', () => branches.underReview(dir, signal))
  const kept = await attempt('snapshot', () => gitWorkspace.snapshot(dir, 'refs/muster/one', signal))
  const ref = { from: 'refs/muster/one', to: 'refs/muster/two', commit: kept?.commit ?? base }
  await attempt('move ref', () => gitWorkspace.moveRef(dir, ref, signal))
  await attempt('diff', () => gitWorkspace.diff(dir, { from: first }, signal))
  await attempt('diff of commits', () => gitWorkspace.diff(dir, { from: first, to: base }, signal))
  const own = { path: join(trees, 'session'), branch: 'session', base }
  await attempt('plan', () => gitWorkspace.planWorktree(dir, 'session', signal))
  await attempt('add work tree', () => gitWorkspace.addWorktree(dir, own, signal))
  await attempt('remove work tree', () => gitWorkspace.removeWorktree(own, signal))
  const path = join(trees, 'task')
  const open = () => branches.openWorktree(dir, { path, branch: 'task', base }, signal)
  await attempt('open work tree', open)
  await attempt('take up work tree', open)
  put(path, { 'task.txt': 't\n', 'b.clean': 'task\n', 'c.process': 'task\n', 'a.txt': 'task\n' })
  await attempt('changes', () => branches.changes(path, { from: base }, signal))
  await attempt('restore', () =>
    branches.restore(path, { commit: base, files: ['a.txt', 'none.txt'] }, signal),
  )
  await attempt('commit', () => branches.commitAll(path, 'task', signal))
  await attempt('merge', () => branches.merge(path, { branch: 'left', message: 'left' }, signal))
  const right = { branch: 'right', message: 'right' }
  await attempt('merge with conflicts', () => branches.merge(path, right, signal))
  await attempt('abandon merge', () => branches.abandonMerge(path, signal))
  await attempt('merge again', () => branches.merge(path, right, signal))
  put(path, { 'a.txt': 'resolved\n' })
  await attempt('conclude merge', () => branches.concludeMerge(path, right, signal))
  putFilesBack(dir)
  await attempt('land', () => branches.land(dir, { branch: 'task', into: 'main' }, signal))
  await attempt('land a merge', () => branches.land(dir, { branch: 'other', into: 'main' }, signal))
  await attempt('land elsewhere', () => branches.land(dir, { branch: 'other', into: 'left' }, signal))
  await attempt('list', () => branches.worktreesIn(dir, trees, signal))
  await attempt('close work tree', () => branches.closeWorktree(dir, path, signal))
  await attempt('drop branch', () => branches.dropBranch(dir, 'task', signal))
  return refused
}

const plants = {
  'the settings of the repository': (dir: string, settings: Settings) =>
    plantSettings(join(dir, '.git', 'config'), settings),
  'the settings of a work tree': (dir: string, settings: Settings) => {
    runGit(dir, 'config', 'extensions.worktreeConfig', 'true')
    plantSettings(join(dir, '.git', 'config.worktree'), settings)
  },
  'a file that the settings include': (dir: string, settings: Settings) => {
    plantSettings(join(dir, '.git', 'more'), settings)
    plantSettings(join(dir, '.git', 'config'), [['include.path', 'more']])
  },
  'a file that is included on some branches': (dir: string, settings: Settings) => {
    plantSettings(join(dir, '.git', 'more'), settings)
    for (const branch of ['task', 'session'])
      plantSettings(join(dir, '.git', 'config'), [[`includeIf.onbranch:${branch}.path`, 'more']])
  },
}
type Settings = readonly (readonly [string, string])[]

test.each(Object.entries(plants))(
  '[MUS-294] no program is run that a repository names in %s',
  async (_where, plant) => {
    const { arm, folder, fired } = armoury()
    const dir = hostileProject()
    plantHooks(join(folder, 'hooks'), arm)
    plant(dir, [...plainWeapons(arm), ['core.hooksPath', join(folder, 'hooks')]])
    const refused = await everyOperation(dir)
    expect({ fired: fired(), refused }).toEqual({ fired: [], refused: [] })
  },
)

test('[MUS-294] no hook of a repository is run', async () => {
  const { arm, fired } = armoury()
  const dir = hostileProject()
  plantHooks(join(dir, '.git', 'hooks'), arm)
  const refused = await everyOperation(dir)
  expect({ fired: fired(), refused }).toEqual({ fired: [], refused: [] })
})

/** The same with a filter of each kind in use. */
const filtered = () => hostileProject('*.clean filter=evil\n*.process filter=worse\n')

test.each(Object.entries(plants))(
  '[MUS-295] no filter is run that a repository defines in %s; what needs one is refused',
  async (_where, plant) => {
    const { arm, fired } = armoury()
    const dir = filtered()
    plant(dir, filterWeapons(arm))
    const refused = await everyOperation(dir)
    expect(fired()).toEqual([])
    const because = refused.filter((one) => one.includes('a program that the settings of the repository'))
    expect(because.map((one) => one.split(':')[0]).join(', ')).toBe(
      'review, snapshot, diff, add work tree, open work tree, take up work tree, land a merge, land elsewhere',
    )
  },
)

test('[MUS-295] landing is refused with the name of the filter and what to do, and lands when that is done', async () => {
  const { arm, fired } = armoury()
  const dir = filtered()
  plantSettings(join(dir, '.git', 'config'), filterWeapons(arm))
  const land = () => branches.land(dir, { branch: 'other', into: 'main' }, signal)
  const before = runGit(dir, 'rev-parse', 'main')
  await expect(land()).rejects.toMatchObject({
    code: 'denied',
    message: expect.stringMatching(/the filter "evil".* git config --remove-section filter\.evil$/),
  })
  expect(runGit(dir, 'rev-parse', 'main')).toBe(before)
  for (const name of ['evil', 'worse']) runGit(dir, 'config', '--remove-section', `filter.${name}`)
  expect(await land()).toBe(runGit(dir, 'rev-parse', 'main'))
  expect(fired()).toEqual([])
})

test('[MUS-295] attributes that only the landed commit brings count too', async () => {
  const { arm, fired } = armoury()
  const dir = hostileProject()
  plantSettings(join(dir, '.git', 'config'), [
    ...filterWeapons(arm),
    ['merge.evil.driver', arm('merge-driver')],
  ])
  const land = (branch: string) => branches.land(dir, { branch, into: 'main' }, signal)
  // A filter that no file needs is in nobody's way.
  await land('other')
  for (const kind of ['filter', 'merge']) {
    runGit(dir, 'branch', '-q', '-f', kind, 'main')
    const tree = realpathSync(tempFolder('muster-trees-'))
    runGit(dir, '-c', 'core.hooksPath=/dev/null', 'worktree', 'add', '-q', '-f', join(tree, kind), kind)
    put(join(tree, kind), { '.gitattributes': `x.new ${kind}=evil\n` })
    runGit(join(tree, kind), 'commit', '-qam', 'attributes')
    put(join(tree, kind), { 'x.new': 'x' })
    runGit(join(tree, kind), '-c', 'filter.evil.clean=', '-c', 'filter.evil.required=false', 'add', '.')
    runGit(
      join(tree, kind),
      '-c',
      'filter.evil.clean=',
      '-c',
      'filter.evil.required=false',
      'commit',
      '-qm',
      'x',
    )
    await expect(land(kind)).rejects.toThrow(
      kind === 'filter' ? 'the filter "evil"' : 'the merge driver "evil"',
    )
  }
  expect(fired()).toEqual([])
})

test('[MUS-295] no merge driver is run that a repository defines', async () => {
  const { arm, fired } = armoury()
  const dir = hostileProject('a.txt merge=evil\n')
  plantSettings(join(dir, '.git', 'config'), [
    ['merge.evil.driver', arm('merge-driver')],
    ['merge.default', 'evil'],
  ])
  const refused = await everyOperation(dir)
  expect({ fired: fired(), refused: refused.length > 0 }).toEqual({ fired: [], refused: true })
  // Without an attribute it is only the usual one, which is the built-in one again.
  const other = hostileProject()
  plantSettings(join(other, '.git', 'config'), [
    ['merge.evil.driver', arm('merge-driver')],
    ['merge.default', 'evil'],
  ])
  expect({ refused: await everyOperation(other), fired: fired() }).toEqual({ refused: [], fired: [] })
})

/** What the user has set for themself. */
function usersSettings(settings: Settings): string {
  const file = join(tempFolder('muster-user-'), 'gitconfig')
  plantSettings(file, [['user.name', 'u'], ['user.email', 'u@u'], ...settings])
  vi.stubEnv('GIT_CONFIG_GLOBAL', file)
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1')
  onTestFinished(() => void vi.unstubAllEnvs())
  return file
}

test("[MUS-295] the user's own filter runs, also where the repository names the same program", async () => {
  const { arm, fired } = armoury()
  const upper = [
    ['filter.evil.clean', arm('own-clean', 'tr a-z A-Z')],
    ['filter.evil.smudge', arm('own-smudge', 'tr A-Z a-z')],
  ] as const
  usersSettings(upper)
  const dir = filtered()
  expect(runGit(dir, 'show', 'main:b.clean')).toBe('B')
  plantSettings(join(dir, '.git', 'config'), upper)
  expect(await everyOperation(dir)).toEqual([])
  expect(runGit(dir, 'show', 'main:b.clean')).toBe('TASK')
  expect(fired()).toEqual(['own-clean', 'own-smudge'])
  plantSettings(join(dir, '.git', 'config'), [['filter.evil.smudge', arm('other-smudge', 'cat')]])
  await expect(gitWorkspace.snapshot(dir, 'refs/muster/three', signal)).rejects.toThrow('the filter "evil"')
  expect(fired()).not.toContain('other-smudge')
})

test("[MUS-295] what a filter of the user's would run for a repository is the user's own or nothing", async () => {
  const { arm } = armoury()
  usersSettings([
    ['core.sshCommand', 'ssh -i mine'],
    ['credential.helper', 'mine'],
    ['credential.https://mine.example.helper', 'other'],
  ])
  const dir = hostileProject()
  const settings = async (more: Settings) => {
    plantSettings(join(dir, '.git', 'config'), more)
    return (await safeSettings(dir, signal)).settings
  }
  expect(await settings([])).toEqual([])
  expect(await settings([['core.sshCommand', arm('ssh')]])).toEqual([['core.sshcommand', 'ssh -i mine']])
  expect((await settings([['credential.https://x.example.helper', arm('credential')]])).slice(1)).toEqual([
    ['credential.helper', ''],
    ['credential.helper', 'mine'],
    ['credential.https://mine.example.helper', 'other'],
  ])
  plantSettings(join(dir, '.git', 'config'), [['lfs.customtransfer.evil.path', arm('lfs')]])
  expect((await safeSettings(dir, signal)).drivers).toMatchObject([
    { attribute: 'filter', name: 'lfs', key: 'lfs.customtransfer.evil.path' },
  ])
})

test('[MUS-294] settings that change are read again, also when size and date stay the same', async () => {
  const { arm, fired } = armoury()
  const dir = filtered()
  const file = join(dir, '.git', 'config')
  const past = new Date(Date.now() - 3_600_000)
  const write = (command: string) => {
    writeFileSync(file, `${plain}[filter "evil"]\n\tclean = ${command}\n`)
    utimesSync(file, past, past)
  }
  const plain = readFileSync(file, 'utf8')
  const [own, evil] = [arm('filter-owner', 'cat'), arm('filter-clean', 'cat')]
  // As if what was written had been there for a while.
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000)
  onTestFinished(() => void vi.restoreAllMocks())
  usersSettings([['filter.evil.clean', own]])
  write(own)
  put(dir, { 'b.clean': 'one\n' })
  expect(await gitWorkspace.snapshot(dir, 'refs/muster/one', signal)).toBeDefined()
  write(evil)
  put(dir, { 'b.clean': 'two\n' })
  await expect(gitWorkspace.snapshot(dir, 'refs/muster/two', signal)).rejects.toThrow('the filter "evil"')
  expect(fired()).toEqual(['filter-owner'])
})

test('[MUS-294] a module has no program run by its own settings, and what is in it still counts', async () => {
  const { arm, folder, fired } = armoury()
  const [dir, library] = [hostileProject(), realpathSync(repository())]
  runGit(dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'library')
  commitFiles(dir, {}, 'with a module')
  const module = join(dir, '.git', 'modules', 'library')
  plantHooks(join(folder, 'hooks'), arm)
  plantSettings(join(module, 'config'), [
    ...plainWeapons(arm),
    ...filterWeapons(arm),
    ['core.hooksPath', join(folder, 'hooks')],
  ])
  put(module, { 'info/attributes': '*.txt filter=evil\n*.more filter=worse\n' })
  put(dir, { 'library/kept.txt': 'two\n', 'library/x.more': 'x\n' })
  expect(await branches.head(dir, signal)).toMatchObject({ isClean: false })
  expect((await gitWorkspace.unsaved(dir, signal))?.changed).toEqual(['library'])
  const refused = await everyOperation(dir)
  expect({ fired: fired(), refused }).toEqual({ fired: [], refused: [] })
})

test('[MUS-294] objects that a repository lacks are not fetched with a program that it names', async () => {
  const { arm, fired } = armoury()
  const dir = hostileProject()
  const blob = runGit(dir, 'rev-parse', 'main:a.txt')
  rmSync(join(dir, '.git', 'objects', blob.slice(0, 2), blob.slice(2)))
  const transports = [
    ['ext', `ext::${arm('ext')}`],
    ['upload', dir],
    ['secure', 'ssh://nobody@localhost/x'],
    ['proxied', 'git://localhost/x'],
    ['helped', 'evil::x'],
  ]
  plantSettings(join(dir, '.git', 'config'), [
    ['core.repositoryFormatVersion', '1'],
    ['extensions.partialClone', 'ext'],
    ['core.sshCommand', arm('ssh')],
    ['core.gitProxy', arm('proxy')],
    ['protocol.allow', 'always'],
    ...['ext', 'ssh', 'file', 'git', 'evil'].map((name) => [`protocol.${name}.allow`, 'always'] as const),
    ...transports.flatMap(([name = '', url = '']) => [
      [`remote.${name}.url`, url] as const,
      [`remote.${name}.promisor`, 'true'] as const,
      [`remote.${name}.uploadpack`, arm('upload-pack')] as const,
    ]),
  ])
  const from = runGit(dir, 'rev-parse', 'main~1')
  await expect(gitWorkspace.diff(dir, { from, to: 'main' }, signal)).rejects.toMatchObject({ code: 'failed' })
  expect(fired()).toEqual([])
})

test('[MUS-296] a repository leads git neither to the files nor to the repository of somebody else', async () => {
  const [dir, victim] = [hostileProject(), hostileProject()]
  const before = runGit(victim, 'for-each-ref')
  put(victim, { 'a.txt': 'mine\n' })
  plantSettings(join(dir, '.git', 'config'), [['core.worktree', victim]])
  expect(await gitWorkspace.root(join(dir, 'sub'), signal)).toBe(dir)
  const kept = await gitWorkspace.snapshot(dir, 'refs/muster/one', signal)
  expect(runGit(dir, '-C', victim, `--git-dir=${dir}/.git`, 'show', `${kept?.commit}:a.txt`)).toBe('a')
  const links: readonly ((path: string) => void)[] = [
    (path) => writeFileSync(path, `gitdir: ${victim}/.git\n`),
    (path) => symlinkSync(join(victim, '.git'), path),
    (path) => {
      runGit(dirname(path), 'init', '-q')
      writeFileSync(join(path, 'commondir'), join(victim, '.git'))
    },
  ]
  for (const link of links) {
    const folder = realpathSync(tempFolder())
    link(join(folder, '.git'))
    await expect(gitWorkspace.snapshot(folder, 'refs/muster/one', signal)).rejects.toMatchObject({
      code: 'denied',
    })
    await expect(branches.head(folder, signal)).rejects.toMatchObject({ code: 'denied' })
  }
  expect(runGit(victim, 'for-each-ref')).toBe(before)
})

test('[MUS-296] a folder that was made to look like a repository is none, and settings are files', async () => {
  const { arm, fired } = armoury()
  const [dir, fake] = [hostileProject(), realpathSync(tempFolder())]
  cpSync(join(dir, '.git'), fake, { recursive: true })
  plantSettings(join(fake, 'config'), [['core.bare', 'true'], ...plainWeapons(arm), ...filterWeapons(arm)])
  expect(await gitWorkspace.root(fake, signal)).toBeUndefined()
  expect(await gitWorkspace.snapshot(fake, 'refs/muster/one', signal)).toBeUndefined()
  const pipe = join(dir, '.git', 'pipe')
  execFileSync('bash', ['-c', 'mkfifo "$1"', 'bash', pipe])
  plantSettings(join(dir, '.git', 'config'), [['include.path', 'pipe']])
  await expect(gitWorkspace.snapshot(dir, 'refs/muster/one', signal)).rejects.toMatchObject({
    code: 'denied',
  })
  expect(fired()).toEqual([])
})

test('[MUS-296] repositories that lie elsewhere for a reason work as before', async () => {
  const dir = hostileProject()
  const bare = realpathSync(tempFolder())
  runGit(bare, 'clone', '-q', '--bare', dir, '.bare')
  writeFileSync(join(bare, '.git'), 'gitdir: ./.bare\n')
  runGit(bare, 'worktree', 'add', '-q', 'tree', 'main')
  expect(await gitWorkspace.root(bare, signal)).toBeUndefined()
  expect(await gitWorkspace.root(join(bare, 'tree', 'sub'), signal)).toBe(join(bare, 'tree'))
  expect(await gitWorkspace.snapshot(join(bare, 'tree'), 'refs/muster/one', signal)).toBeDefined()
  const apart = realpathSync(tempFolder())
  runGit(apart, 'init', '-q', '--separate-git-dir', join(tempFolder(), 'apart'))
  await expect(branches.head(apart, signal)).rejects.toThrow('git config core.worktree')
  runGit(apart, 'config', 'core.worktree', apart)
  expect(await gitWorkspace.root(apart, signal)).toBe(apart)
})

test('[MUS-310] a driver that is trusted is told to git again, and one that runs a file of the project never is', async () => {
  const { arm } = armoury()
  const filter = arm('filter', 'cat')
  const dir = realpathSync(repository(tempFolder('muster-trusted-')))
  commitFiles(dir, { 'filter.sh': 'cat\n' })
  plantSettings(join(dir, '.git', 'config'), [
    ['filter.outside.clean', filter],
    ['filter.inside.clean', 'sh filter.sh'],
  ])
  const asked: string[] = []
  onTestFinished(
    trustDrivers((root, isCopy) => (file) => {
      asked.push(`${root} ${file} ${isCopy}`)
      return true
    }),
  )
  expect((await repositoryDrivers(dir, signal)).map(({ file, programs }) => [file, programs.length])).toEqual(
    [
      ['.git/config filter.outside', 0],
      ['.git/config filter.inside', 1],
    ],
  )
  const { settings, drivers } = await safeSettings(dir, signal)
  expect(drivers).toMatchObject([{ name: 'inside' }])
  expect(settings).toContainEqual(['filter.outside.clean', filter])
  expect(settings).not.toContainEqual(['filter.inside.clean', 'sh filter.sh'])
  const tree = join(realpathSync(tempFolder('muster-trees-')), 'tree')
  runGit(dir, '-c', 'filter.inside.clean=cat', 'worktree', 'add', '-q', tree)
  expect((await safeSettings(tree, signal)).settings).toContainEqual(['filter.outside.clean', filter])
  expect(asked).toEqual([`${dir} .git/config filter.outside false`, `${dir} .git/config filter.outside true`])
  // A file that the work tree alone has is one that an agent wrote there.
  plantSettings(join(dir, '.git', 'config'), [['filter.later.clean', 'sh later.sh']])
  put(tree, { 'later.sh': 'evil\n' })
  expect((await safeSettings(tree, signal)).drivers).toMatchObject([{ name: 'inside' }, { name: 'later' }])
})
