import { constants, ftruncate, write } from 'node:fs'
import { promisify } from 'node:util'

/** The calls of the writer that can fail; tests pass ones that fail at the Nth call. */
export type FileOps = {
  write(fd: number, bytes: Uint8Array, position: number): Promise<void>
  truncate(fd: number, length: number): Promise<void>
}

/**
 * Opens a file whose every write is durable when it returns: a write and a sync of its own would each
 * wait for a turn of the event loop, and under load the disk would stand idle between them.
 */
export const durableWrites = constants.O_DSYNC

const writeOnce = promisify(write)

export const systemFileOps: FileOps = {
  async write(fd, bytes, position) {
    // write(2) may take less than it was given, most of all on a disk that is filling up.
    for (let done = 0; done < bytes.byteLength; ) {
      const { bytesWritten } = await writeOnce(fd, bytes, done, bytes.byteLength - done, position + done)
      done += bytesWritten
    }
  },
  truncate: promisify(ftruncate),
}
