import { constants, promises as fs, lstatSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { AppError } from '../../contract/errors.ts'
import { noEntries } from '../system/foreign-files.ts'

/** What lies at a path, as far as a later look can tell that it is another thing. */
export type Entry = {
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly mode: number
  readonly size: number
  readonly mtimeMs: number
  /** Nobody can set it back: a file whose stamp is the same was not touched. */
  readonly stamp: string
  /** Stays with a file that is only renamed. */
  readonly identity: string
  readonly target?: string
}

/** Everything in some folders, by the path below the workspace. */
export type Snapshot = ReadonlyMap<string, Entry>

const atOnce = 256

/** Looks at everything below some folders of a workspace, follows no link and reads no content. */
export async function takeSnapshot(
  workspace: string,
  folders: readonly string[],
  { mostEntries, signal }: { readonly mostEntries: number; readonly signal: AbortSignal },
): Promise<Snapshot> {
  const found = new Map<string, Entry>()
  const waiting = [...folders]
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    signal.throwIfAborted()
    const names = await fs.readdir(join(workspace, folder)).catch(noEntries)
    for (const [i, name] of names.entries()) {
      if (i % atOnce === 0) await turn()
      const path = join(folder, name)
      const entry = entryAt(join(workspace, path))
      if (!entry || found.has(path)) continue
      found.set(path, entry)
      if (entry.kind === 'folder') waiting.push(path)
    }
    if (found.size > mostEntries)
      throw new AppError(
        'too_large',
        `This project has more than ${mostEntries} files, too many to guard a command that may not change all of them; a person can install bubblewrap`,
      )
  }
  return found
}

function entryAt(path: string): Entry | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (!stat) return undefined
  const kind = stat.isFile()
    ? 'file'
    : stat.isDirectory()
      ? 'folder'
      : stat.isSymbolicLink()
        ? 'link'
        : 'other'
  return {
    kind,
    mode: Number(stat.mode & 0o7777n),
    size: Number(stat.size),
    mtimeMs: Number(stat.mtimeNs) / 1e6,
    stamp: `${stat.dev} ${stat.ino} ${stat.ctimeNs} ${stat.size}`,
    identity: `${stat.dev} ${stat.ino} ${stat.birthtimeNs}`,
    ...(kind === 'link' && { target: readlinkSync(path) }),
  }
}

const mostEntries = 50_000
const mostBytes = 1 << 30
const copiesAtOnce = 16

/** Copies a project as it stands, with what is not committed or ignored; refused as too large before anything is copied. */
export async function copyWorkspace(workspace: string, folder: string, signal: AbortSignal): Promise<string> {
  const found = await takeSnapshot(workspace, [''], { mostEntries, signal })
  const bytes = [...found.values()].reduce((sum, { kind, size }) => sum + (kind === 'file' ? size : 0), 0)
  if (bytes > mostBytes) throw new AppError('too_large', `This project has ${bytes} bytes, too many to copy`)
  const copy = join(folder, 'copy')
  await fs.mkdir(copy)
  const entries = [...found].sort(([a], [b]) => (a < b ? -1 : 1))
  const folders = entries.filter(([, { kind }]) => kind === 'folder')
  for (const [path] of folders) await fs.mkdir(join(copy, path))
  const others = entries.filter(([, { kind }]) => kind !== 'folder')
  for (let i = 0; i < others.length; i += copiesAtOnce) {
    signal.throwIfAborted()
    const some = others.slice(i, i + copiesAtOnce)
    await Promise.all(some.map(([path, entry]) => copyOne(join(workspace, path), join(copy, path), entry)))
  }
  // Last: a folder that may not be written takes no files, and each file that comes changes its time.
  for (const [path, entry] of folders.toReversed()) await keepMarks(join(copy, path), entry)
  return copy
}

async function copyOne(from: string, to: string, entry: Entry): Promise<void> {
  if (entry.kind === 'link') {
    await fs.symlink(entry.target ?? '', to)
    return fs.lutimes(to, entry.mtimeMs / 1000, entry.mtimeMs / 1000)
  }
  if (entry.kind !== 'file') return
  try {
    await fs.copyFile(from, to, constants.COPYFILE_FICLONE)
  } catch (error) {
    // What cannot be read, or is gone meanwhile, is not in the copy either.
    if (['EACCES', 'EPERM', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return
    throw error
  }
  await keepMarks(to, entry)
}

/** By its time git and build tools tell that a file is the same. */
async function keepMarks(path: string, { mode, mtimeMs }: Entry): Promise<void> {
  await fs.chmod(path, mode)
  await fs.utimes(path, mtimeMs / 1000, mtimeMs / 1000)
}
