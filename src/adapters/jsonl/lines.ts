import { type FileHandle, open } from 'node:fs/promises'

/** One line with the place of its first byte and of the byte after its newline. */
export type Line = { readonly text: string; readonly start: number; readonly end: number; readonly whole: boolean }

const chunkBytes = 1 << 20
const newline = 0x0a

/**
 * The lines of a file from an offset, in groups of about a megabyte: memory is bounded by the longest
 * line, not by the file. A last line without its newline comes with `whole: false`.
 */
export async function* lineGroups(path: string, from = 0): AsyncGenerator<Line[]> {
  const handle = await open(path, 'r')
  try {
    yield* scan(handle, from)
  } finally {
    await handle.close()
  }
}

async function* scan(handle: FileHandle, from: number): AsyncGenerator<Line[]> {
  const chunk = Buffer.allocUnsafe(chunkBytes)
  // Pieces of a line that spans chunks: joined once, so a 12 MB line does not cost a copy for each chunk.
  let pieces: Buffer[] = []
  let start = from
  let position = from
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunkBytes, position)
    if (bytesRead === 0) break
    const group: Line[] = []
    let at = 0
    for (;;) {
      const index = chunk.indexOf(newline, at)
      if (index === -1 || index >= bytesRead) break
      const end = position + index + 1
      const text =
        pieces.length === 0
          ? chunk.toString('utf8', at, index)
          : Buffer.concat([...pieces, chunk.subarray(at, index)]).toString('utf8')
      pieces = []
      group.push({ text, start, end, whole: true })
      start = end
      at = index + 1
    }
    if (at < bytesRead) pieces.push(Buffer.from(chunk.subarray(at, bytesRead)))
    position += bytesRead
    if (group.length > 0) yield group
  }
  if (pieces.length > 0) {
    const text = Buffer.concat(pieces).toString('utf8')
    yield [{ text, start, end: position, whole: false }]
  }
}
