import { chownSync, lchownSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Whom a daemon runs as. */
export type User = { readonly who: string; readonly uid: number | undefined }

/** Whoever runs the tests; where that is root, for whom much is different, somebody else as well. */
export const users: readonly User[] = [
  { who: 'whoever runs the tests', uid: undefined },
  ...(process.getuid?.() === 0 ? [{ who: 'nobody', uid: 65_534 }] : []),
]

/** Gives a folder, with all in it, to the user that a daemon runs as. */
export function handOver(folder: string, uid: number | undefined): void {
  if (uid === undefined) return
  chownSync(folder, uid, uid)
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (lstatSync(path).isDirectory()) handOver(path, uid)
    else lchownSync(path, uid, uid)
  }
}
