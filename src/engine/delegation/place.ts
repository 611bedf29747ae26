import { AppError } from '../../contract/errors.ts'
import { matchesGlob } from '../../core/delegation/globs.ts'
import type { Branches, Merge } from '../../ports/branches.ts'
import type { ChangedFile } from '../../ports/workspace.ts'

/** A part of a repository in which a project lies: globs of the project are below it. */
type Inside = { readonly inside: string }

/** A work tree on a branch of its own, for one task. */
type TreePlace = Inside & {
  readonly kind: 'tree'
  readonly root: string
  readonly path: string
  readonly branch: string
  /** The commit that a new one begins at, and the branches whose work it needs. */
  readonly base: string
  readonly needs: readonly string[]
  /** Where the first attempt began: what came of all of them together is the work. */
  readonly start?: string | undefined
  /** The words of the commit. */
  readonly message: string
}

/** A work tree in the middle of a merge that has conflicts. */
type MergePlace = Inside & { readonly kind: 'merge'; readonly path: string; readonly merge: Merge }

/** A folder that others may work in too: what is changed there is gated call by call. */
type SharedPlace = { readonly kind: 'shared'; readonly folder: string }

/** Where work is done. It is data: the same place is found again after a crash. */
export type Place = TreePlace | MergePlace | SharedPlace

/** The folder that an agent works in, a full path. */
export function folderOf(place: Place): string {
  if (place.kind === 'shared') return place.folder
  return place.inside === '' ? place.path : `${place.path}/${place.inside}`
}

/** Makes a place ready; answers the commit that the work begins at, where git keeps it. */
export async function openPlace(
  branches: Branches,
  place: Exclude<Place, SharedPlace>,
  signal: AbortSignal,
): Promise<string> {
  if (place.kind === 'tree') {
    await branches.openWorktree(place.root, place, signal)
    for (const branch of place.needs) {
      const merged = await branches.merge(place.path, { branch, message: `Take in ${branch}` }, signal)
      if (!('conflicts' in merged)) continue
      await branches.abandonMerge(place.path, signal)
      throw new AppError(
        'conflict',
        `the work this task depends on conflicts: ${merged.conflicts.join(', ')}`,
      )
    }
  }
  const { commit } = await branches.head(place.path, signal)
  return place.kind === 'tree' ? (place.start ?? commit) : commit
}

/** What git shows of the work. */
export type Collected = {
  readonly files: readonly ChangedFile[]
  /** What was changed though it may not be; it was put back. */
  readonly outside: readonly string[]
  /** What is still not as it should be. */
  readonly left: readonly string[]
  readonly commit: string | null
}

type Taking = { readonly start: string; readonly scopes: readonly (readonly string[])[] }

/** Takes the work from its place: what is outside of a scope is put back, the rest is committed. */
export async function collectWork(
  branches: Branches,
  { place, start, scopes }: Taking & { readonly place: Exclude<Place, SharedPlace> },
  signal: AbortSignal,
): Promise<Collected> {
  const { path } = place
  if (place.kind === 'merge') {
    const merged = await branches.concludeMerge(path, place.merge, signal)
    if ('conflicts' in merged) return { files: [], outside: [], left: merged.conflicts, commit: null }
    const { files } = await branches.changes(path, { from: start, to: merged.merged }, signal)
    return { files, outside: [], left: [], commit: merged.merged }
  }
  const limits = scopes.map((globs) => globs.map((glob) => below(place, glob)))
  const isInside = (file: string) =>
    limits.every((globs) => globs.length === 0 || globs.some((glob) => matchesGlob(file, glob)))
  const { files } = await branches.changes(path, { from: start }, signal)
  const outside = files.map((file) => file.path).filter((file) => !isInside(file))
  if (outside.length > 0) await branches.restore(path, { commit: start, files: outside }, signal)
  const commit = await branches.commitAll(path, place.message, signal)
  const left = await branches.changes(path, { from: start }, signal)
  // A later attempt may have left the work as it was, and a developer may have committed it.
  const head = commit ?? (await branches.head(path, signal)).commit
  return { files: left.files, outside, left: [], commit: head }
}

const below = ({ inside }: Inside, glob: string): string => (inside === '' ? glob : `${inside}/${glob}`)
