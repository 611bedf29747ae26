import { hash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { AppError } from '../../contract/errors.ts'
import type { BlobRef } from '../../contract/values.ts'
import type { Blobs } from '../../ports/storage.ts'
import { durableWrites, type FileOps } from './file-ops.ts'
import { packPath } from './format.ts'

const { O_RDWR, O_CREAT } = constants
const previewChars = 1000

/** One pack of large texts per segment. A text is taken into memory by `put` and made durable by `flush`, before its event. */
export class BlobPacks implements Blobs {
  readonly #folder: string
  readonly #ops: FileOps
  #segment = 0
  #fd: number | undefined
  #size = 0
  #pending: Buffer[] = []
  #known = new Map<string, BlobRef>()
  #unwritten = new Map<string, Buffer>()

  constructor(folder: string, ops: FileOps) {
    this.#folder = folder
    this.#ops = ops
  }

  /** Flushes, then turns to the pack of another segment; what was put meanwhile is flushed too. */
  async turnTo(segment: number): Promise<void> {
    while (this.#pending.length > 0) await this.flush()
    this.use(segment)
  }

  /** Further texts go to the pack of this segment; equal texts are shared inside one pack only, so that packs can go with their segments. */
  use(segment: number): void {
    this.close()
    this.#segment = segment
    this.#known = new Map()
  }

  put(text: string): BlobRef {
    const digest = `sha256:${hash('sha256', text, 'hex')}`
    const known = this.#known.get(digest)
    if (known) return known
    const bytes = Buffer.from(text)
    if (this.#fd === undefined) this.#open()
    const ref: BlobRef = {
      $blob: digest,
      bytes: bytes.length,
      pack: this.#segment,
      offset: this.#size,
      preview: previewOf(text),
    }
    this.#pending.push(bytes)
    this.#size += bytes.length
    this.#known.set(digest, ref)
    this.#unwritten.set(digest, bytes)
    return ref
  }

  async flush(): Promise<void> {
    if (this.#pending.length === 0 || this.#fd === undefined) return
    const bytes = Buffer.concat(this.#pending)
    const position = this.#size - bytes.length
    const written = [...this.#unwritten.keys()]
    this.#pending = []
    await this.#ops.write(this.#fd, bytes, position)
    for (const digest of written) this.#unwritten.delete(digest)
  }

  async get(ref: BlobRef): Promise<string> {
    const unwritten = this.#unwritten.get(ref.$blob)
    if (unwritten) return unwritten.toString('utf8')
    return readBlob(this.#folder, ref)
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
    this.#pending = []
    this.#unwritten = new Map()
  }

  #open(): void {
    this.#fd = openSync(packPath(this.#folder, this.#segment), O_RDWR | O_CREAT | durableWrites, 0o600)
    this.#size = fstatSync(this.#fd).size
  }
}

/** Reads a blob and proves by its digest that it is the one meant. */
export async function readBlob(folder: string, ref: BlobRef): Promise<string> {
  const path = packPath(folder, ref.pack)
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new AppError('not_found', `the blob pack ${path} is gone; restore it`)
    throw error
  })
  try {
    const isThere = ref.offset + ref.bytes <= (await handle.stat()).size
    const buffer = Buffer.alloc(isThere ? ref.bytes : 0)
    await handle.read(buffer, 0, buffer.length, ref.offset)
    if (`sha256:${hash('sha256', buffer, 'hex')}` !== ref.$blob)
      throw new AppError(
        'failed',
        `a blob in ${path} at ${ref.offset} is damaged; restore the file from a backup`,
      )
    return buffer.toString('utf8')
  } finally {
    await handle.close()
  }
}

/** Cuts by characters, never through a surrogate pair. */
function previewOf(text: string): string {
  const cut = text.slice(0, previewChars)
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut
}
