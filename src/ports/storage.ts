import type { BlobRef } from '../contract/values.ts'

/** Texts over the inline limit, content-addressed after redaction and durable before their event. */
export type Blobs = {
  /** Takes the text into the current pack; durable once the batch that refers to it is. */
  put(text: string): BlobRef
  get(ref: BlobRef, signal: AbortSignal): Promise<string>
}

/** Raw texts of unfinished work, encrypted at rest; never indexed, mirrored, exported or served. */
export type Vault = {
  /** Stores the bytes for a run and answers the name to ask for them by. */
  put(bytes: Uint8Array, owner: string): Promise<string>
  /** The bytes, or undefined when the entry is gone: what needed it is interrupted, not guessed. */
  get(name: string): Promise<Uint8Array | undefined>
  /** Marks everything an owner has as no longer needed from `endedAt` on. */
  release(owner: string, endedAt: number): Promise<void>
  /** Deletes what was released before the given time; answers how many entries went. */
  sweep(releasedBefore: number): Promise<number>
  /** Lets go of its files; what is put afterwards opens them again. */
  close(): Promise<void>
}

/** Where each follower of the journal has got to; a cursor that was not saved only costs a repeat. */
export type Cursors = {
  load(name: string): Promise<number>
  save(name: string, seq: number): Promise<void>
}
