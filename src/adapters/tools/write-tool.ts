import { constants, promises as fs, readFile, type Stats } from 'node:fs'
import { basename, dirname } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import type { FileChange, Tool, ToolContext } from '../../ports/tools.ts'
import { defineTool } from '../system/define-tool.ts'
import { findPlace, type Place, placeInside } from '../system/place.ts'
import {
  draftName,
  type HeldFolder,
  holdFolder,
  type OpenFile,
  openRegular,
  removeDrafts,
} from './held-folder.ts'
import { FilePath, type MatchesGlob, mustBeChangeable, type WorkspaceTurns } from './workspace-access.ts'

const mostChars = 4 << 20

const Input = z.strictObject({
  file_path: FilePath.describe('The file, absolute or relative to the project'),
  content: z.string().max(mostChars).describe('The whole new content'),
})

type Parts = { readonly matchesGlob: MatchesGlob; readonly turns: WorkspaceTurns }

export const writeTool = ({ matchesGlob, turns }: Parts): Tool =>
  defineTool({
    name: 'Write',
    description: [
      'Writes a whole file, and makes its folders when they are missing.',
      'A file that exists is replaced; it must have been Read in this run.',
      'To change a part of a file use Edit.',
    ].join(' '),
    category: 'action',
    input: Input,
    target: ({ file_path }) => file_path,
    tidy: (path, workspace) => removeDrafts(workspace, path),
    async run({ file_path, content }, context) {
      const place = await placeInside(context.workspace, file_path)
      mustBeChangeable(place, context, matchesGlob)
      const change = await turns.shared(place.workspace, context.signal, () =>
        changeFile(place, context, () => Buffer.from(content)),
      )
      const { path, linesAdded, linesRemoved } = change
      const text =
        change.change === 'created'
          ? `${path} was created with ${linesAdded} lines.`
          : `${path} was replaced: ${linesAdded} lines added, ${linesRemoved} removed.`
      return { text, isError: false, changes: [change] }
    },
  })

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

/** How many lines came and went; a line that only moved counts as neither. */
function countChangedLines(before: string, after: string) {
  const old = linesOf(before)
  const counts = new Map<string, number>()
  for (const line of old) counts.set(line, (counts.get(line) ?? 0) + 1)
  let added = 0
  for (const line of linesOf(after)) {
    const left = counts.get(line) ?? 0
    if (left === 0) added += 1
    else counts.set(line, left - 1)
  }
  const removed = [...counts.values()].reduce((sum, left) => sum + left, 0)
  return { linesAdded: added, linesRemoved: removed }
}

/** A newline at the end begins no further line. */
function linesOf(text: string): readonly string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}
