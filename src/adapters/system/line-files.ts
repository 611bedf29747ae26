import { type promises as fs, watch as watchFolder } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { FileLine, LineFiles } from '../../ports/files.ts'
import { openPlain } from './foreign-files.ts'

const newline = 0x0a
const retryMs = 1000

/** Files on disk; a line counts once its newline is there. */
export const systemLineFiles: LineFiles = {
  async read(path, from, maxBytes) {
    const handle = await openPlain(path)
    if (!handle) return undefined
    try {
      const { size } = await handle.stat()
      const start = from > size ? 0 : from
      const bytes = await readAtLeastALine(handle, start, { size, maxBytes })
      return { ...linesOf(bytes, start), size }
    } finally {
      await handle.close()
    }
  },
  watch(path, onChange, signal) {
    watchName(path, onChange, signal)
  },
}

/** A line longer than the usual piece is read whole, and alone. */
async function readAtLeastALine(
  handle: fs.FileHandle,
  start: number,
  { size, maxBytes }: { size: number; maxBytes: number },
): Promise<Buffer> {
  for (let wanted = maxBytes; ; wanted *= 2) {
    const buffer = Buffer.allocUnsafe(Math.min(wanted, size - start))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start)
    const bytes = buffer.subarray(0, bytesRead)
    if (start + bytesRead >= size || bytes.includes(newline)) return bytes
  }
}

function linesOf(bytes: Buffer, from: number): { lines: FileLine[]; end: number } {
  const lines: FileLine[] = []
  let at = 0
  for (let index = bytes.indexOf(newline); index !== -1; index = bytes.indexOf(newline, at)) {
    lines.push({ text: bytes.toString('utf8', at, index), start: from + at, end: from + index + 1 })
    at = index + 1
  }
  return { lines, end: from + at }
}

/** The folder is watched, not the file: a file that is not there yet, or is replaced, cannot be watched itself. */
function watchName(path: string, onChange: () => void, signal: AbortSignal): void {
  if (signal.aborted) return
  const name = basename(path)
  try {
    const watcher = watchFolder(dirname(path), { persistent: false, signal }, (_kind, changed) => {
      if (changed === null || changed === name || changed.startsWith(name)) onChange()
    })
    watcher.on('error', () => later(() => watchName(path, onChange, signal), signal))
  } catch (error) {
    onlyMissing(error as NodeJS.ErrnoException)
    later(() => {
      onChange()
      watchName(path, onChange, signal)
    }, signal)
  }
}

function later(then: () => void, signal: AbortSignal): void {
  const timer = setTimeout(then, retryMs)
  timer.unref()
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
}

function onlyMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'EACCES') return undefined
  throw error
}
