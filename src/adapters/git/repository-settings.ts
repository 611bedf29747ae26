import { promises as fs } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { namesIn, noFile } from '../system/foreign-files.ts'
import { type GitSetting, harmlessGit } from '../system/harmless-git.ts'
import { askProgram } from '../system/run-program.ts'
import {
  type Driver,
  driverSettings,
  type Entry,
  isTrusted,
  type NamedDriver,
  namedDriver,
} from './trusted-drivers.ts'

/** What git is told in a folder so that it runs nothing of the repository's own. */
export type SafeSettings = {
  /** The work tree, whatever the repository says of it; undefined in a bare repository and outside of any. */
  readonly root: string | undefined
  /** What takes the place of programs that the repository names. */
  readonly settings: readonly GitSetting[]
  /** Filters and merge drivers of the repository, which are turned off: files that need one come out wrong. */
  readonly drivers: readonly Driver[]
}

/**
 * Reads what the repository of a folder says in its own settings, with git commands that run nothing.
 *
 * A program that writes a filter into them between this look and the git that follows is not seen, and nothing turns off
 * a filter whose name is unknown. So that is closed from the other side: commands of built-in agents cannot write there,
 * of an isolated session no work tree is recorded, and whoever works without walls can start programs anyway.
 */
export async function safeSettings(folder: string, signal: AbortSignal): Promise<SafeSettings> {
  const [repository, ...around] = await repositoriesOf(folder)
  if (repository === undefined) return { root: undefined, settings: [], drivers: [] }
  const entries = await entriesOf(repository, signal)
  await checkLink(repository, entries)
  const isBare = repository.store === repository.gitFolder && entries.some(isBareEntry)
  const root = isBare ? undefined : repository.root
  // Git may find that the nearest is no repository at all and take one around it.
  for (const one of around) entries.push(...(await entriesOf(one, signal)))
  const suspects = entries.filter(({ key }) => isSuspect(key))
  if (suspects.length === 0) return { root, settings: [], drivers: [] }
  const own = await usersOwn(folder, signal)
  const { settings, drivers } = judge(suspects, own)
  const place = {
    root: repository.root ?? repository.gitFolder,
    main: mainRoot(repository),
    isNested: around.length > 0,
  }
  const off: Driver[] = []
  for (const driver of drivers)
    if (await isTrusted(driver, place)) settings.push(...driverSettings(driver, own))
    else {
      off.push(driver)
      settings.push(...turnedOff[driver.attribute](driver.name))
    }
  return { root, settings, drivers: off }
}

/** The drivers that a repository names itself; those of a work tree belong to the repository it was made from. */
export async function repositoryDrivers(root: string, signal: AbortSignal): Promise<readonly NamedDriver[]> {
  const [repository] = await repositoriesOf(root)
  if (repository === undefined || mainRoot(repository) !== root) return []
  const suspects = (await entriesOf(repository, signal)).filter(({ key }) => isSuspect(key))
  if (suspects.length === 0) return []
  const { drivers } = judge(suspects, await usersOwn(root, signal))
  return Promise.all(drivers.map((driver) => namedDriver(driver, root)))
}

/** The folder beside the settings that all of its work trees share. */
const mainRoot = ({ store }: Repository): string | undefined =>
  basename(store) === '.git' ? dirname(store) : undefined

type Repository = {
  /** The folder that holds `.git`; undefined inside of a repository. */
  readonly root: string | undefined
  readonly gitFolder: string
  /** Where settings are that all of its work trees share. */
  readonly store: string
  /** The `.git` that leads to it, when that is no folder itself. */
  readonly link: string | undefined
}

/** The repositories around a folder, the nearest first. */
async function repositoriesOf(folder: string): Promise<readonly Repository[]> {
  const folders: string[] = []
  const start = await fs.realpath(folder).catch(noFile)
  for (let at = start; at !== undefined; at = at === dirname(at) ? undefined : dirname(at)) folders.push(at)
  const found = await Promise.all(folders.map(repositoryAt))
  return found.filter((one) => one !== undefined)
}

async function repositoryAt(at: string): Promise<Repository | undefined> {
  const path = join(at, '.git')
  const entry = await fs.lstat(path).catch(noFile)
  if (entry === undefined) return (await isGitFolder(at)) ? repositoryIn(at, {}) : undefined
  if (entry.isDirectory()) return (await isGitFolder(path)) ? repositoryIn(path, { root: at }) : undefined
  const named = entry.isFile() ? linkIn(await fs.readFile(path, 'utf8')) : path
  const gitFolder = named && (await fs.realpath(resolve(at, named)).catch(noFile))
  return gitFolder ? repositoryIn(gitFolder, { root: at, link: path }) : undefined
}

/** What git reads in a file `.git`. */
const linkIn = (text: string): string | undefined =>
  text.startsWith('gitdir: ') ? text.slice('gitdir: '.length).replace(/[\r\n]+$/, '') : undefined

async function repositoryIn(
  gitFolder: string,
  { root, link }: { readonly root?: string; readonly link?: string },
): Promise<Repository> {
  const common = (await fs.readFile(join(gitFolder, 'commondir'), 'utf8').catch(noFile))?.trim()
  const store = common === undefined ? gitFolder : await real(resolve(gitFolder, common))
  return { root, gitFolder, store, link }
}

const real = (path: string): Promise<string> => fs.realpath(path).catch(() => path)

/** Git takes a HEAD that leads nowhere yet as well. */
async function isGitFolder(path: string): Promise<boolean> {
  const has = async (name: string) => (await fs.lstat(join(path, name)).catch(noFile)) !== undefined
  return (await has('HEAD')) && ((await has('objects')) || (await has('commondir')))
}

/** A link that only this folder knows of leads to a repository of somebody else's, where nothing of ours belongs. */
async function checkLink(repository: Repository, entries: readonly Entry[]): Promise<void> {
  const { root, gitFolder, store, link } = repository
  const isShared = store !== gitFolder
  const isOfStore = basename(dirname(gitFolder)) === 'worktrees' && dirname(dirname(gitFolder)) === store
  if (isShared && !isOfStore)
    throw new AppError(
      'denied',
      `${gitFolder}/commondir leads to ${store}, which is not the repository around it; delete that file`,
    )
  if (root === undefined || link === undefined || gitFolder.startsWith(`${root}/`)) return
  if (isShared) {
    const back = (await fs.readFile(join(gitFolder, 'gitdir'), 'utf8').catch(noFile))?.trim()
    if (back !== undefined && (await real(dirname(resolve(gitFolder, back)))) === root) return
  }
  for (const { key, value } of entries)
    if (key === 'core.worktree' && (await real(resolve(gitFolder, value))) === root) return
  throw new AppError(
    'denied',
    `${link} leads to ${gitFolder}, which belongs to another folder; if you moved this work tree, run git worktree repair in it, else git config core.worktree ${root}`,
  )
}

const isBareEntry = ({ key, value }: Entry): boolean =>
  key === 'core.bare' && !/^(false|no|off|0|)$/i.test(value)

/** All that a repository sets, for any of its work trees and on any branch. */
async function entriesOf({ gitFolder, store }: Repository, signal: AbortSignal): Promise<Entry[]> {
  const entries = await entriesIn(join(store, 'config'), { signal, depth: 0 })
  if (!entries.some(({ key }) => key === 'extensions.worktreeconfig')) return entries
  const trees = await namesIn(join(store, 'worktrees'))
  const folders = new Set([store, gitFolder, ...trees.map((name) => join(store, 'worktrees', name))])
  for (const folder of folders)
    entries.push(...(await entriesIn(join(folder, 'config.worktree'), { signal, depth: 0 })))
  return entries
}

type Reading = { readonly signal: AbortSignal; readonly depth: number }

/** Git follows no more. */
const mostDeep = 10

/** The settings of a file and of all that it includes, on whatever condition. */
async function entriesIn(file: string, { signal, depth }: Reading): Promise<Entry[]> {
  const content = depth > mostDeep ? undefined : await contentOf(file, signal)
  const entries = [...(content?.entries ?? [])]
  for (const path of content?.includes ?? [])
    entries.push(...(await entriesIn(path, { signal, depth: depth + 1 })))
  return entries
}

type Content = { readonly entries: readonly Entry[]; readonly includes: readonly string[] }

/** Files as they were read, by their paths: git is asked often, and settings seldom change. */
const known = new Map<string, Content & { readonly stamp: string }>()
const mostKnown = 1000

/** A file may change once more in the same tick of its clock; what is as young as that is read again. */
const settledMs = 1000

async function contentOf(file: string, signal: AbortSignal): Promise<Content | undefined> {
  const stat = await fs.stat(file, { bigint: true }).catch(noFile)
  if (stat === undefined) return undefined
  // What is no file may say something else each time that it is read.
  if (!stat.isFile())
    throw new AppError('denied', `${file} has settings of git but is not a file; replace it by one`)
  const stamp = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ')
  const kept = known.get(file)
  if (kept?.stamp === stamp) return kept
  const entries = await listed(['--file', file, '--list', '--no-includes'], signal)
  const isInclude = ({ key }: Entry) => /^include(if\..*)?\.path$/s.test(key)
  const asked = ['--file', file, '--no-includes', '--type=path', '--get-regexp', '^include(if\\..*)?\\.path$']
  const paths = entries.some(isInclude) ? await listed(asked, signal) : []
  const content = { stamp, entries, includes: paths.map(({ value }) => resolve(dirname(file), value)) }
  if (known.size >= mostKnown) known.clear()
  if (Date.now() - Number(stat.ctimeMs) > settledMs) known.set(file, content)
  return content
}

async function listed(args: readonly string[], signal: AbortSignal): Promise<readonly Entry[]> {
  return (await askGit(['config', '-z', ...args], signal)).map(entryOf)
}

async function askGit(args: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const answer = await askProgram('git', args, { signal, env: harmlessGit(process.env) })
  if (answer?.code === 0) return answer.stdout.split('\0').slice(0, -1)
  const said = answer?.stderr.trim().split('\n')[0] || 'no answer'
  throw new AppError('failed', `git could not read settings (git ${args.join(' ')}): ${said}`)
}

function entryOf(record: string): Entry {
  const end = record.indexOf('\n')
  return end === -1
    ? { key: record, value: 'true' }
    : { key: record.slice(0, end), value: record.slice(end + 1) }
}

/** What the user has set themself, for all repositories or for those like this one. */
async function usersOwn(folder: string, signal: AbortSignal): Promise<readonly Entry[]> {
  const words = await askGit(['-C', folder, 'config', '-z', '--list', '--show-scope'], signal)
  return words.flatMap((word, i) =>
    i % 2 === 1 && ['system', 'global'].includes(words[i - 1] ?? '') ? [entryOf(word)] : [],
  )
}

/** Keys by which git, or a filter that the user has, runs a program. Settings that always hold need not be here. */
const driver = /^(filter|merge)\.(.+)\.(clean|smudge|process|driver)$/s
const program = /(command|cmd|program|helper|hook|editor|pager|askpass)$/
const configuredHook = /^hook\.(.+)\.[^.]+$/s
/** What the filters of git-lfs run. */
const ofLfs = /^lfs\.(extension\..+|customtransfer\..+|(.+\.)?standalonetransferagent)$/s

const isSuspect = (key: string): boolean =>
  key === 'merge.default' || [driver, program, configuredHook, ofLfs].some((kind) => kind.test(key))

/** What of a repository's settings is replaced by the user's own, and its drivers. */
function judge(
  suspects: readonly Entry[],
  own: readonly Entry[],
): { readonly settings: GitSetting[]; readonly drivers: readonly Driver[] } {
  const valueOf = (key: string) => own.findLast((one) => one.key === key)?.value
  const drivers = new Map<string, Driver>()
  const settings: GitSetting[] = []
  for (const { key, value } of suspects) {
    if (valueOf(key) === value) continue
    const one = driverOf(key)
    const [, hook] = configuredHook.exec(key) ?? []
    if (one) {
      const id = `${one.attribute}.${one.name}`
      drivers.set(id, { ...one, entries: [...(drivers.get(id)?.entries ?? []), { key, value }] })
    } else if (hook) settings.push([`hook.${hook}.enabled`, 'false'], [`hook.${hook}.event`, ''])
    else if (key.startsWith('credential.')) settings.push(['credential.helper', ''])
    else settings.push([key, valueOf(key) ?? instead[key] ?? 'false'])
  }
  // An empty helper forgets all that were named before it, those of the user too.
  if (settings.some(([key]) => key === 'credential.helper'))
    for (const { key, value } of own) if (key.startsWith('credential.')) settings.push([key, value])
  return { settings, drivers: [...drivers.values()] }
}

function driverOf(key: string): Omit<Driver, 'entries'> | undefined {
  if (ofLfs.test(key)) return { attribute: 'filter', name: 'lfs', key }
  const [, attribute, name = '', part] = driver.exec(key) ?? []
  const isOne = attribute === 'merge' ? part === 'driver' : part !== 'driver'
  if (attribute === undefined || !isOne) return undefined
  return { attribute: attribute === 'merge' ? 'merge' : 'filter', name, key }
}

/** What git does without these settings, where running nothing is not the same. */
const instead: Readonly<Record<string, string>> = { 'merge.default': 'text', 'core.sshcommand': 'ssh' }

const turnedOff: Readonly<Record<Driver['attribute'], (name: string) => readonly GitSetting[]>> = {
  filter: (name) => [
    ...['clean', 'smudge', 'process'].map((part) => [`filter.${name}.${part}`, ''] as const),
    [`filter.${name}.required`, 'false'],
  ],
  merge: (name) => [[`merge.${name}.driver`, 'false']],
}
