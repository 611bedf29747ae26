import { promises as fs } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FileChange } from '../../ports/tools.ts'
import { draftName } from './draft-files.ts'
import type { Copies } from './guard-files.ts'
import type { Entry, Snapshot } from './snapshot.ts'

type Undoing = {
  readonly before: Snapshot
  readonly after: Snapshot
  readonly copies: Copies
  /** In the order of their paths. */
  readonly broken: readonly FileChange[]
  readonly workspace: string
}

type Undone = { readonly undone: readonly FileChange[]; readonly failed: readonly FileChange[] }

/** Undoes changes from copies: first what is in the way goes, then what is missing comes back, outer folders first. */
export async function undoChanges({ before, after, copies, broken, workspace }: Undoing): Promise<Undone> {
  const failed = new Set<FileChange>()
  const attempt = async (one: FileChange, act: () => Promise<void>) => {
    try {
      await act()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error
      failed.add(one)
    }
  }
  const moved = movesOf(before, after)
  for (const one of broken) {
    const from = one.change === 'created' ? moved.get(one.path) : undefined
    if (from === undefined) continue
    await attempt(one, async () => {
      await fs.mkdir(dirname(join(workspace, from)), { recursive: true })
      await fs.rename(join(workspace, one.path), join(workspace, from))
    })
  }
  for (const one of broken.toReversed()) {
    const now = after.get(one.path)
    if (now && (one.change === 'created' || now.kind !== before.get(one.path)?.kind))
      await attempt(one, () => takeAway(join(workspace, one.path), now, one.change === 'created'))
  }
  for (const one of broken) {
    const old = before.get(one.path)
    if (old) await attempt(one, () => putBack(join(workspace, one.path), old, copies.get(one.path)))
  }
  return { undone: broken.filter((one) => !failed.has(one)), failed: [...failed] }
}

/** Where files that are new under one name were before: their content may exist nowhere else. */
function movesOf(before: Snapshot, after: Snapshot): ReadonlyMap<string, string> {
  const gone = new Map<string, string>()
  for (const [path, entry] of before)
    if (entry.kind === 'file' && !after.has(path)) gone.set(entry.identity, path)
  const moves = new Map<string, string>()
  for (const [path, entry] of after) {
    const from = before.has(path) ? undefined : gone.get(entry.identity)
    if (from === undefined) continue
    moves.set(path, from)
    gone.delete(entry.identity)
  }
  return moves
}

async function takeAway(path: string, { kind }: Entry, isNew: boolean): Promise<void> {
  if (kind !== 'folder') return fs.rm(path, { force: true })
  if (!isNew) return fs.rm(path, { recursive: true, force: true })
  await fs.rmdir(path).catch((error: NodeJS.ErrnoException) => {
    // It holds something that may be there, or was held by what is gone already.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'ENOENT') throw error
  })
}

async function putBack(path: string, old: Entry, copy: string | undefined): Promise<void> {
  if (old.kind === 'folder') {
    await fs.mkdir(path, { recursive: true })
    return fs.chmod(path, old.mode)
  }
  await fs.mkdir(dirname(path), { recursive: true })
  if (old.kind === 'link') {
    await fs.rm(path, { force: true })
    return fs.symlink(old.target ?? '', path)
  }
  if (old.kind === 'other' || copy === undefined)
    throw Object.assign(new Error('no copy'), { code: 'ENOENT' })
  // Another name of the same file keeps what was written through it.
  const temporary = join(dirname(path), draftName())
  await fs.copyFile(copy, temporary)
  await fs.chmod(temporary, old.mode)
  await fs.utimes(temporary, old.mtimeMs / 1000, old.mtimeMs / 1000)
  await fs.rename(temporary, path)
}
