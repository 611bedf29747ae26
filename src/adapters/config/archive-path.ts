import { tmpdir } from 'node:os'
import { join, resolve, sep } from 'node:path'

/** Makes the folder of the archived transcripts absolute: `~` is home, a relative path starts at the state folder. */
export function archivePath(written: string, dirs: { stateDir: string; home: string }): string {
  if (written === '~' || written.startsWith('~/')) return join(dirs.home, written.slice(1))
  return resolve(dirs.stateDir, written)
}

/** Tells whether a folder is one that the machine empties by itself. */
export function isTemporary(dir: string): boolean {
  return ['/tmp', '/dev/shm', tmpdir()].some((temp) => dir === temp || dir.startsWith(temp + sep))
}
