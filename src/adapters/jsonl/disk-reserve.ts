import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

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
