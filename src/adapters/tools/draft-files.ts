import { randomUUID } from 'node:crypto'
import { promises as fs } from 'node:fs'
import { dirname } from 'node:path'
import { isAlive } from '../system/is-alive.ts'
import { placeInside } from '../system/place.ts'
import { holdFolder } from './held-folder.ts'

const named = /^\.muster-(\d+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The name of a file under which new content is made before it takes its place; it says whose it is. */
export const draftName = (): string => `.muster-${process.pid}-${randomUUID()}`

/** Takes away what a process that was killed has left beside a file that it was about to change. */
export async function removeDrafts(workspace: string, path: string): Promise<void> {
  const place = await placeInside(workspace, path)
  await using folder = await holdFolder(place.workspace, dirname(place.relative))
  for (const name of await fs.readdir(folder.at('.'))) {
    const pid = named.exec(name)?.[1]
    if (pid !== undefined && !isAlive(Number(pid))) await fs.rm(folder.at(name), { force: true })
  }
}
