import { constants, promises as fs } from 'node:fs'
import { dirname } from 'node:path'
import { privateFolder, syncFolder } from '../system/durable-files.ts'
import { missing } from '../system/foreign-files.ts'

const lengthBytes = 4
const digestBytes = 32
const headBytes = lengthBytes + digestBytes

type Entry = { readonly at: number; readonly length: number }
type Waiting = {
  readonly digest: string
  readonly sealed: Buffer
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * The sealed entries of one owner, one after the other in one file: what is put at the same time is written and
 * synced together. What a killed writer left half written at the end is cut off by the next one.
 */
export class Pack {
  readonly #path: string
  readonly #entries: Map<string, Entry>
  #end: number
  #handle: fs.FileHandle | undefined
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  #isBroken = false

  private constructor(path: string, found: { entries: Map<string, Entry>; end: number }) {
    this.#path = path
    this.#entries = found.entries
    this.#end = found.end
  }

  static async open(path: string): Promise<Pack> {
    return new Pack(path, scan(await fs.readFile(path).catch(missing)))
  }

  get size(): number {
    return this.#entries.size
  }

  /** After a failed write it is unknown what the file holds: it has to be opened again. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  get isIdle(): boolean {
    return this.#writing === undefined
  }

  has(digest: string): boolean {
    return this.#entries.has(digest)
  }

  async read(digest: string): Promise<Buffer | undefined> {
    const entry = this.#entries.get(digest)
    const handle = entry && (await fs.open(this.#path, constants.O_RDONLY).catch(missing))
    if (!entry || !handle) return undefined
    try {
      const sealed = Buffer.alloc(entry.length)
      const { bytesRead } = await handle.read(sealed, 0, entry.length, entry.at)
      return sealed.subarray(0, bytesRead)
    } finally {
      await handle.close()
    }
  }

  /** Resolves when the entry is on disk. */
  append(digest: string, sealed: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ digest, sealed, resolve, reject })
      this.#writing ??= this.#write().finally(() => {
        this.#writing = undefined
      })
    })
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#handle?.close()
    this.#handle = undefined
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        await this.#writeAll(batch)
        for (const { resolve } of batch) resolve()
      } catch (error) {
        this.#isBroken = true
        for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(error)
      }
    }
  }

  async #writeAll(batch: readonly Waiting[]): Promise<void> {
    const isFirst = this.#handle === undefined
    const handle = (this.#handle ??= await this.#opened())
    const parts: Buffer[] = []
    let at = this.#end
    const added: [string, Entry][] = []
    for (const { digest, sealed } of batch) {
      const head = Buffer.alloc(lengthBytes)
      head.writeUInt32BE(sealed.length)
      parts.push(head, Buffer.from(digest, 'hex'), sealed)
      added.push([digest, { at: at + headBytes, length: sealed.length }])
      at += headBytes + sealed.length
    }
    const { bytesWritten } = await handle.writev(parts, this.#end)
    if (bytesWritten !== at - this.#end) throw new Error(`${this.#path}: the disk is full`)
    // The disk takes them side by side.
    await Promise.all([handle.datasync(), ...(isFirst ? this.#names() : [])])
    this.#end = at
    for (const [digest, entry] of added) this.#entries.set(digest, entry)
  }

  async #opened(): Promise<fs.FileHandle> {
    await privateFolder(dirname(this.#path))
    const handle = await fs.open(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600)
    if ((await handle.stat()).size > this.#end) await handle.truncate(this.#end)
    return handle
  }

  /** Makes the names of the file and of its folder durable. */
  #names(): Promise<void>[] {
    const folder = dirname(this.#path)
    return [syncFolder(folder), syncFolder(dirname(folder))]
  }
}

function scan(bytes: Buffer | undefined): { entries: Map<string, Entry>; end: number } {
  const entries = new Map<string, Entry>()
  let end = 0
  while (bytes && end + headBytes <= bytes.length) {
    const length = bytes.readUInt32BE(end)
    const at = end + headBytes
    if (at + length > bytes.length) break
    entries.set(bytes.toString('hex', end + lengthBytes, at), { at, length })
    end = at + length
  }
  return { entries, end }
}
