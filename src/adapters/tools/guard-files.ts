import { constants, promises as fs } from 'node:fs'
import { dirname, join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { FileChange } from '../../ports/tools.ts'
import { draftName } from './held-folder.ts'
import { type Entry, type Snapshot, takeSnapshot } from './snapshot.ts'

/** What is guarded, and how it is told what may change. */
type Guarding = {
  readonly workspace: string
  /** Below the workspace; an empty one is the workspace itself. */
  readonly folders: readonly string[]
  readonly isInScope: (path: string) => boolean
  /** A folder for copies, outside of the workspace. */
  readonly store: string
  readonly signal: AbortSignal
}

/** What a command changed: what may stay, what was undone, and what could not be. */
export type Verdict = {
  readonly changes: readonly FileChange[]
  readonly undone: readonly FileChange[]
  readonly failed: readonly FileChange[]
}

const mostBytes = 1 << 30
const mostEntries = 50_000
/** What a command may leave behind and still have undone. */
const mostEntriesAfter = 20 * mostEntries
const atOnce = 16

/** Keeps copies of what may not change, and answers how to look afterwards and undo what did. */
export async function guardFiles(guarding: Guarding): Promise<() => Promise<Verdict>> {
  const before = await takeSnapshot(guarding.workspace, guarding.folders, {
    mostEntries,
    signal: guarding.signal,
  })
  const copies = await keepCopies(before, guarding)
  return () => judge(before, copies, guarding)
}

/** Copies by the path of the original; what cannot be read has none. */
type Copies = ReadonlyMap<string, string>

async function keepCopies(
  before: Snapshot,
  { workspace, isInScope, store, signal }: Guarding,
): Promise<Copies> {
  const files = [...before].filter(([path, entry]) => entry.kind === 'file' && !isInScope(path))
  const bytes = files.reduce((sum, [, entry]) => sum + entry.size, 0)
  if (bytes > mostBytes)
    throw new AppError(
      'too_large',
      `This project has ${bytes} bytes that a command may not change, too many to keep a copy of; a person can install bubblewrap`,
    )
  const copies = new Map<string, string>()
  for (let i = 0; i < files.length; i += atOnce) {
    signal.throwIfAborted()
    await Promise.all(
      files.slice(i, i + atOnce).map(async ([path], n) => {
        const copy = join(store, String(i + n))
        const isCopied = await fs
          .copyFile(join(workspace, path), copy, constants.COPYFILE_FICLONE)
          .then(() => true, unreadable)
        if (isCopied) copies.set(path, copy)
      }),
    )
  }
  return copies
}

function unreadable(error: NodeJS.ErrnoException): false {
  if (error.code === 'EACCES' || error.code === 'EPERM') return false
  throw error
}

async function judge(before: Snapshot, copies: Copies, guarding: Guarding): Promise<Verdict> {
  const { workspace, folders, isInScope } = guarding
  // The call may be cancelled; what it changed is undone all the same.
  const after = await takeSnapshot(workspace, folders, {
    mostEntries: mostEntriesAfter,
    signal: new AbortController().signal,
  })
  const holders = foldersAround([...after.keys()].filter(isInScope))
  const isAllowed = (path: string, { kind }: Entry) =>
    isInScope(path) || (kind === 'folder' && (holders.has(path) || isInScope(`${path}/x`)))
  const changes: FileChange[] = []
  const broken: FileChange[] = []
  for (const path of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const old = before.get(path)
    const now = after.get(path)
    const change = await changeOf({ old, now, copy: copies.get(path), file: join(workspace, path) })
    const entry = now ?? old
    if (!change || !entry) continue
    if (!isAllowed(path, entry)) broken.push({ path, change })
    else if (entry.kind !== 'folder') changes.push({ path, change })
  }
  if (broken.length === 0) return { changes, undone: [], failed: [] }
  return { changes, ...(await undoChanges({ before, after, copies, broken, workspace })) }
}

/** The folders that some paths need. */
function foldersAround(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>()
  for (const path of paths)
    for (let at = dirname(path); at !== '.' && !folders.has(at); at = dirname(at)) folders.add(at)
  return folders
}

type Pair = {
  readonly old: Entry | undefined
  readonly now: Entry | undefined
  readonly copy: string | undefined
  readonly file: string
}

async function changeOf({ old, now, copy, file }: Pair): Promise<FileChange['change'] | undefined> {
  if (!now) return 'deleted'
  if (!old) return 'created'
  if (old.kind !== now.kind || old.mode !== now.mode || old.target !== now.target) return 'modified'
  if (old.kind !== 'file' || old.stamp === now.stamp) return undefined
  // A file that was only touched, or got another name, has the same content as its copy.
  if (copy !== undefined && old.size === now.size && (await areSame(copy, file))) return undefined
  return 'modified'
}

const chunkBytes = 256 << 10

async function areSame(one: string, other: string): Promise<boolean> {
  await using a = await fs.open(one)
  await using b = await fs.open(other, constants.O_RDONLY | constants.O_NOFOLLOW)
  const [left, right] = [Buffer.alloc(chunkBytes), Buffer.alloc(chunkBytes)]
  for (;;) {
    const [x, y] = await Promise.all([a.read(left, 0, chunkBytes), b.read(right, 0, chunkBytes)])
    if (x.bytesRead !== y.bytesRead) return false
    if (!left.subarray(0, x.bytesRead).equals(right.subarray(0, y.bytesRead))) return false
    if (x.bytesRead === 0) return true
  }
}

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
async function undoChanges({ before, after, copies, broken, workspace }: Undoing): Promise<Undone> {
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
