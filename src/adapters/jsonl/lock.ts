import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../contract/errors.ts'

/** An exclusive hold on the journal folder, kept by the operating system: it ends with the process, however that ends. */
export type Lock = {
  /** False when the lock file was removed or replaced: another writer may be at work. */
  held(): boolean
  release(): void
}

export function takeLock(path: string): Lock {
  const db = new DatabaseSync(path)
  try {
    db.exec('PRAGMA busy_timeout=0; PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=MEMORY;')
    db.exec('BEGIN EXCLUSIVE')
    db.exec('CREATE TABLE IF NOT EXISTS holder (pid INTEGER)')
    db.exec(`DELETE FROM holder; INSERT INTO holder VALUES (${process.pid})`)
  } catch (error) {
    db.close()
    if (isBusy(error))
      throw new AppError('conflict', `another daemon has the journal at ${path}; use it, or stop it with: sm down`)
    throw error
  }
  const inode = statSync(path).ino
  return {
    held: () => {
      try {
        return statSync(path).ino === inode
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
        throw error
      }
    },
    release: () => db.close(),
  }
}

function isBusy(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode
  return code === 5 || code === 6
}
