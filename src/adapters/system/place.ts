import { promises as fs, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { AppError } from '../../contract/errors.ts'

/** Where a path leads, as the kernel goes: links resolved, also those to what does not exist yet. */
export type Place = {
  readonly workspace: string
  readonly full: string
  /** Below the workspace; begins with `..` outside of it and is empty for the workspace itself. */
  readonly relative: string
}

/** Finds where a path leads that may be relative to the workspace. */
export async function findPlace(workspace: string, path: string): Promise<Place> {
  // Joined by hand: `..` after a link is the parent of where the link leads.
  const given = isAbsolute(path) ? path : `${workspace}/${path}`
  // The system finds what exists at once; what does not is found link by link.
  const full = existing(given) ?? (await resolveLinks(given))
  return { workspace, full, relative: relative(workspace, full) }
}

/** The same, refused when it is outside of the workspace. */
export async function placeInside(workspace: string, path: string): Promise<Place> {
  const place = await findPlace(workspace, path)
  if (place.relative === '..' || place.relative.startsWith('../'))
    throw new AppError(
      'denied',
      `${path} leads to ${place.full}, outside the project ${workspace}; name a path inside it`,
    )
  return place
}

// Not left to a thread of its own: that takes far longer than to look it up.
function existing(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

const mostLinks = 40

/** Like realpath, but what is missing stays as it is instead of being an error. */
async function resolveLinks(path: string): Promise<string> {
  const rest = partsOf(path).reverse()
  let at = '/'
  for (let links = 0; ; ) {
    const part = rest.pop()
    if (part === undefined) return at
    if (part === '..') {
      at = dirname(at)
      continue
    }
    const target = await linkAt(join(at, part))
    if (target === undefined) {
      at = join(at, part)
      continue
    }
    if (++links > mostLinks) throw new AppError('invalid', `${path} is a loop of links; name the file itself`)
    if (isAbsolute(target)) at = '/'
    rest.push(...partsOf(target).reverse())
  }
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.')

const noLink = ['EINVAL', 'ENOENT', 'ENOTDIR', 'UNKNOWN']

async function linkAt(path: string): Promise<string | undefined> {
  try {
    return await fs.readlink(path)
  } catch (error) {
    if (noLink.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
