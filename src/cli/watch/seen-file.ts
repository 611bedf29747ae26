import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const fileName = 'watch-seen.json'
const most = 2000

/** The ends that somebody has looked at in an earlier watch; a file that cannot be read is none. */
export function readSeen(home: string): ReadonlySet<string> {
  try {
    const seen: unknown = JSON.parse(readFileSync(join(home, fileName), 'utf8'))
    return new Set(Array.isArray(seen) ? seen.filter((one) => typeof one === 'string') : [])
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code !== undefined) return new Set()
    throw error
  }
}

/** Keeps them for the next watch; a folder that cannot be written costs only the memory. */
export function writeSeen(home: string, seen: ReadonlySet<string>): void {
  const file = join(home, fileName)
  const fresh = `${file}.${process.pid}.new`
  try {
    writeFileSync(fresh, JSON.stringify([...seen].slice(-most)), { mode: 0o600 })
    renameSync(fresh, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
  }
}
