import { constants, promises as fs, readFile, type Stats } from 'node:fs'
import { basename, dirname } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '../../contract/errors.ts'
import type { FileChange, ToolContext } from '../../ports/tools.ts'
import { findPlace, type Place } from '../system/place.ts'
import { countChangedLines } from './count-changed-lines.ts'
import { draftName } from './draft-files.ts'
import { type HeldFolder, holdFolder } from './held-folder.ts'
import { type OpenFile, openRegular } from './open-file.ts'

const readWhole = promisify(readFile)
const mostBytes = 16 << 20
const { O_WRONLY, O_CREAT, O_EXCL } = constants

/** What becomes of a file's content; it may refuse. */
type Making = (before: Buffer | undefined) => Buffer

/**
 * Replaces a file at once or makes a new one with its folders. One that exists must have been read in this run and be
 * as it was then: nobody's work is overwritten unseen.
 */
export async function changeFile(place: Place, context: ToolContext, make: Making): Promise<FileChange> {
  const name = basename(place.relative)
  const isThere = await exists(place)
  // Nothing is made for a change that is refused anyway.
  if (!isThere) make(undefined)
  await using folder = await holdFolder(place.workspace, dirname(place.relative), { create: !isThere })
  using old = openOld(folder, place)
  if (old) await mustBeSeen(place, context, old)
  const before = old && (await readWhole(old.fd))
  const content = make(before)
  const { mtimeMs, size } = await replace(folder, name, {
    old,
    content,
    check: () => unchanged(folder, place, old),
  })
  context.seen.set(place.full, { mtimeMs, size })
  return {
    path: place.relative,
    change: old ? 'modified' : 'created',
    ...countChangedLines(before?.toString('utf8') ?? '', content.toString('utf8')),
  }
}

const exists = ({ full }: Place): Promise<boolean> => fs.lstat(full).then(() => true, absent(false))

function openOld(folder: HeldFolder, { relative }: Place): OpenFile | undefined {
  try {
    return openRegular(folder.at(basename(relative)), relative)
  } catch (error) {
    return absent(undefined)(error as NodeJS.ErrnoException)
  }
}

async function mustBeSeen(place: Place, context: ToolContext, { stat }: OpenFile): Promise<void> {
  const { full, relative } = place
  const known = context.seen.get(full) ?? (await seenBefore(place, context, stat))
  if (!known)
    throw new AppError(
      'conflict',
      `${relative} exists and was not read in this run; Read it first, then repeat the call`,
    )
  if (known.mtimeMs !== stat.mtimeMs || known.size !== stat.size)
    throw new AppError(
      'conflict',
      `${relative} was changed by someone else since it was read; Read it again, then repeat the call`,
    )
  if (stat.size > mostBytes)
    throw new AppError(
      'too_large',
      `${relative} has ${stat.size} bytes, too many for this tool; change it with Bash`,
    )
}

/** Of what was seen before a restart only the time is known: who changed it later was somebody else. */
async function seenBefore({ full, workspace }: Place, context: ToolContext, { mtimeMs, size }: Stats) {
  for (const { path, atMs } of context.seenBefore)
    if ((await findPlace(workspace, path)).full === full && mtimeMs <= atMs) return { mtimeMs, size }
  return undefined
}

type Replacing = {
  readonly old: OpenFile | undefined
  readonly content: Buffer
  readonly check: () => Promise<void>
}

async function replace(folder: HeldFolder, name: string, { old, content, check }: Replacing) {
  const temporary = folder.at(draftName())
  const handle = await fs.open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o666)
  try {
    try {
      await handle.writeFile(content)
      if (old) await takeOver(handle, old)
      await handle.sync()
      await check()
      const stat = await handle.stat()
      await fs.rename(temporary, folder.at(name))
      return stat
    } finally {
      await handle.close()
    }
  } catch (error) {
    await fs.rm(temporary, { force: true })
    throw error
  }
}

async function takeOver(handle: fs.FileHandle, { stat }: OpenFile): Promise<void> {
  // Only root may give files away; another one's file that may be written is then one's own.
  await handle.chown(stat.uid, stat.gid).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPERM') throw error
  })
  await handle.chmod(stat.mode & 0o7777)
}

/** Whoever wrote it while the new content was made would be overwritten. */
async function unchanged(folder: HeldFolder, place: Place, old: OpenFile | undefined): Promise<void> {
  const now = await fs.lstat(folder.at(basename(place.relative))).catch(absent(undefined))
  const same = old && now ? now.ino === old.stat.ino && now.mtimeMs === old.stat.mtimeMs : !old && !now
  if (!same)
    throw new AppError(
      'conflict',
      `${place.relative} was changed just now; Read it again, then repeat the call`,
    )
}

const absent =
  <T>(instead: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return instead
    throw error
  }
