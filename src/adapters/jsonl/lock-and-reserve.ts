import { existsSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../contract/errors.ts'

/** An exclusive hold on the journal folder, kept by the operating system: it ends with the process, however that ends. */
export type Lock = {
  /** False when the lock file was removed or replaced: another writer may be at work. */
  held(): boolean
  release(): void
}

export function takeLock(path: string): Lock {
  writeFileSync(path, '', { flag: 'a', mode: 0o600 })
  const db = new DatabaseSync(path)
  try {
    db.exec(
      'PRAGMA busy_timeout=0; PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE',
    )
  } catch (error) {
    db.close()
    if (!isBusy(error)) throw error
    throw new AppError(
      'conflict',
      `${holder(path)} holds the journal beside ${path}; use that daemon, or stop it with: sm down`,
    )
  }
  writeFileSync(holderPath(path), String(process.pid), { mode: 0o600 })
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

const holderPath = (path: string): string => `${path}.pid`

/** Who holds the lock, as it said itself; only for the message, since a pid proves nothing. */
function holder(path: string): string {
  try {
    return `another daemon (pid ${readFileSync(holderPath(path), 'utf8')})`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'another daemon'
    throw error
  }
}

function isBusy(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode
  return code === 5 || code === 6
}

/** Space kept back so that endings can still be written when the disk is full. */
export class DiskReserve {
  readonly #path: string
  readonly #bytes: number

  constructor(path: string, bytes: number) {
    this.#path = path
    this.#bytes = bytes
  }

  /** Takes the space when there is plenty; false when the disk has too little to give. */
  hold(): boolean {
    if (existsSync(this.#path)) return true
    if (this.#free() < this.#bytes * 4) return false
    try {
      writeFileSync(this.#path, Buffer.alloc(this.#bytes), { mode: 0o600 })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      rmSync(this.#path, { force: true })
      return false
    }
  }

  release(): void {
    rmSync(this.#path, { force: true })
  }

  #free(): number {
    const stats = statfsSync(dirname(this.#path))
    return stats.bavail * stats.bsize
  }
}
