import { type FileHandle, open } from 'node:fs/promises'

const maxBytes = 1024 * 1024

/** The bytes of a small text file, or the reason why it cannot be used. */
export type ReadText =
  | { readonly bytes: Uint8Array; readonly text: string }
  | { readonly refused: string }
  | undefined

/** Reads a small UTF-8 file without its byte-order mark; nothing when it does not exist. */
export async function readText(file: string, signal: AbortSignal): Promise<ReadText> {
  let handle: FileHandle
  try {
    handle = await open(file, 'r')
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    return { refused: `cannot be opened (${code})` }
  }
  try {
    const stat = await handle.stat()
    // A pipe or a device under this name would never end.
    if (!stat.isFile()) return { refused: 'is not a regular file' }
    if (stat.size > maxBytes) return { refused: `is larger than ${maxBytes} bytes` }
    const bytes = await handle.readFile({ signal })
    return { bytes, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    if (codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { refused: 'is not UTF-8 text' }
    throw error
  } finally {
    await handle.close()
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
