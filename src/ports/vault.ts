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
