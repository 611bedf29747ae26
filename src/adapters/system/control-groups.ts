import { promises as fs, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Control groups of Linux, version 2. A process and all that it starts stay in their group, whatever they do with
 * their terminal, parents and environment. The names of our groups are marks, as variables of an environment are.
 */
export type Marks = Readonly<Record<string, string>>

/**
 * Makes a group with these marks, below the one that this process is in; answers the file by which a process joins
 * it. Nothing where the system has no such groups or lets this user make none.
 */
export async function openGroup(marks: Marks): Promise<string | undefined> {
  const folder = folderOf(marks)
  if (folder === undefined) return undefined
  try {
    await fs.mkdir(folder, { recursive: true })
    return join(folder, 'cgroup.procs')
  } catch {
    return undefined
  }
}

/** Removes a group that nobody is in any more, and those above it that were made for it. */
export async function closeGroup(marks: Marks): Promise<void> {
  const folder = folderOf(marks)
  if (folder === undefined) return
  let at = folder
  for (let level = Object.keys(marks).length; level >= 0; level--) {
    try {
      // A group is a folder that its files do not keep from being removed; one that is in use stays.
      await fs.rmdir(at)
    } catch {
      return
    }
    at = dirname(at)
  }
}

/** Takes this process out of a group of ours that it was started in, so that it does not end with a session. */
export async function leaveGroup(): Promise<void> {
  const above = ownGroup()
  if (above === undefined || Object.keys(marksIn(readFileSync('/proc/self/cgroup', 'utf8'))).length === 0)
    return
  await fs.writeFile(join(above, 'cgroup.procs'), String(process.pid)).catch(() => {})
}

/** The marks of the group that a process is in, given its `/proc/PID/cgroup`. */
export function marksIn(text: string): Marks {
  const path = /^0::(.*)$/m.exec(text)?.[1] ?? ''
  const at = path.lastIndexOf(`/${ours}/`)
  if (at === -1) return {}
  const names = path.slice(at + ours.length + 2).split('/')
  return Object.fromEntries(
    names.flatMap((name) => {
      const [, key, value] = /^(\w+)=([\w-]+)$/.exec(name) ?? []
      return key === undefined ? [] : [[key, Buffer.from(value ?? '', 'base64url').toString()]]
    }),
  )
}

const ours = 'muster-sessions'

function folderOf(marks: Marks): string | undefined {
  const names = Object.entries(marks).map(
    ([name, value]) => `${name}=${Buffer.from(value).toString('base64url')}`,
  )
  const above = ownGroup()
  if (above === undefined || names.some(({ length }) => length > 255)) return undefined
  return join(above, ours, ...names)
}

/** Where the group of this process is as a folder; a daemon that a session of ours started goes beside that session. */
function ownGroup(): string | undefined {
  try {
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    const mount = /^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(mounts)?.[1]
    const path = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
    if (mount === undefined || path === undefined) return undefined
    const [outside = ''] = path.split(`/${ours}/`, 1)
    return join(mount, outside)
  } catch {
    return undefined
  }
}
