import { createHash } from 'node:crypto'
import type { NamedProgram } from '../../contract/definition-file.ts'
import type { FileTrust } from '../../ports/definitions.ts'
import type { GitSetting } from '../system/harmless-git.ts'
import { namedPrograms } from '../system/named-programs.ts'

/** One setting as a file has it. */
export type Entry = { readonly key: string; readonly value: string }

/** A program that files pass through when an attribute names it. */
export type Driver = {
  readonly attribute: 'filter' | 'merge'
  readonly name: string
  readonly key: string
  /** What the repository sets of it, in the order of its files. */
  readonly entries: readonly Entry[]
}

/** What a person trusts of a repository; `isCopy` when another of its work trees, or one around it, is looked at. */
type RepositoryTrust = (root: string, isCopy: boolean) => FileTrust

const trusting = new Set<RepositoryTrust>()

/**
 * Lets git run the drivers of repositories that a person trusts, until the function that this answers is called. Git is
 * run from many places, and one process is one daemon: so this is said once, and not to each of them.
 */
export function trustDrivers(trust: RepositoryTrust): () => void {
  trusting.add(trust)
  return () => void trusting.delete(trust)
}

/** Where a driver would run: in a work tree, of the repository whose main one is known. */
type Place = { readonly root: string; readonly main: string | undefined; readonly isNested: boolean }

/** Whether a person trusts it. */
export async function isTrusted(driver: Driver, { root, main, isNested }: Place): Promise<boolean> {
  if (main === undefined || trusting.size === 0) return false
  const [there, { file, sha256, programs }] = await Promise.all([
    namedDriver(driver, root),
    namedDriver(driver, main),
  ])
  if (there.programs.length > 0 || programs.length > 0) return false
  return [...trusting].some((trust) => trust(main, isNested || root !== main)(file, sha256))
}

/** A driver as somebody is asked to trust it. */
export type NamedDriver = NamedProgram & {
  /** Files of the work tree that its commands name: git could run them just as it checks out others in their place. */
  readonly programs: readonly NamedProgram[]
  readonly says: readonly string[]
}

/** Other settings change with every branch: only what is said of the driver is compared. */
export async function namedDriver({ attribute, name, entries }: Driver, root: string): Promise<NamedDriver> {
  const text = JSON.stringify(entries.map(({ key, value }) => [key, value]))
  return {
    file: `.git/config ${attribute}.${name}`,
    sha256: createHash('sha256').update(text).digest('hex'),
    programs: await namedPrograms(
      root,
      entries.map(({ value }) => value),
    ),
    says: entries.map(({ key, value }) => `${key} = ${value}`),
  }
}

// Not `process`: with an empty one git would run neither of the others.
const parts = { filter: ['clean', 'smudge'], merge: ['driver'] } as const

/** A trusted driver, said again to git: what is written into its settings meanwhile changes nothing. */
export function driverSettings({ attribute, name, entries }: Driver, own: readonly Entry[]): GitSetting[] {
  const keys = new Set([
    ...parts[attribute].map((part) => `${attribute}.${name}.${part}`),
    ...entries.map(({ key }) => key),
  ])
  const last = (of: readonly Entry[], key: string) => of.findLast((one) => one.key === key)?.value
  return [...keys].map((key) => [key, last(entries, key) ?? last(own, key) ?? ''])
}
