import { type FileHandle, open } from 'node:fs/promises'

/** One line with the place of its first byte and of the byte after its newline; `bytes` is valid until the next group. */
export type Line = {
  readonly text: string
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  readonly whole: boolean
}

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
  // Two chunks in turn: the next is read while the lines of this one are worked on.
  const chunks = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(chunkBytes)] as const
  let turn: 0 | 1 = 0
  const read = (position: number, into: 0 | 1) => {
    const reading = handle.read(chunks[into], 0, chunkBytes, position)
    // Reported when it is awaited; a reader that left early must not leave an unhandled rejection.
    reading.catch(() => {})
    return reading
  }
  // Pieces of a line that spans chunks: joined once, so a 12 MB line does not cost a copy for each chunk.
  let pieces: Buffer[] = []
  let start = from
  let position = from
  let reading = read(position, turn)
  for (;;) {
    const { bytesRead } = await reading
    if (bytesRead === 0) break
    const chunk = chunks[turn].subarray(0, bytesRead)
    turn = turn === 0 ? 1 : 0
    reading = read(position + bytesRead, turn)
    const group: Line[] = []
    let at = 0
    for (;;) {
      const index = chunk.indexOf(newline, at)
      if (index === -1) break
      const end = position + index + 1
      const own = chunk.subarray(at, index)
      const bytes = pieces.length === 0 ? own : Buffer.concat([...pieces, own])
      pieces = []
      group.push({ text: bytes.toString('utf8'), bytes, start, end, whole: true })
      start = end
      at = index + 1
    }
    if (at < bytesRead) pieces.push(Buffer.from(chunk.subarray(at)))
    position += bytesRead
    if (group.length > 0) yield group
  }
  if (pieces.length > 0) {
    const bytes = Buffer.concat(pieces)
    yield [{ text: bytes.toString('utf8'), bytes, start, end: position, whole: false }]
  }
}
