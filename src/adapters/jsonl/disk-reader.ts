import type { StoredEvent } from '../../ports/journal.ts'
import { type Position, readPage } from './cursor.ts'
import type { SegmentFile } from './layout.ts'

const keptPositions = 4096

/** Finds and reads pages of segments on disk, remembering where earlier pages ended so that followers do not scan. */
export class DiskReader {
  readonly #segments: () => readonly SegmentFile[]
  readonly #pageBytes: number
  /** seq → where the line after it begins; the oldest entry is dropped first. */
  readonly #positions = new Map<number, Position>()

  constructor(segments: () => readonly SegmentFile[], pageBytes = 1 << 20) {
    this.#segments = segments
    this.#pageBytes = pageBytes
  }

  async page(after: number, limit: number, maxSeq: number): Promise<readonly StoredEvent[]> {
    if (after >= maxSeq || limit < 1) return []
    const from = this.#find(after)
    if (!from) return []
    const { events, next } = await readPage(from, {
      after,
      limit: { events: limit, bytes: this.#pageBytes, maxSeq },
      segments: this.#segments(),
    })
    this.#remember(next)
    return events
  }

  #find(after: number): Position | undefined {
    const known = this.#positions.get(after)
    if (known) return known
    const segments = this.#segments()
    const segment = segments.findLast((s) => s.firstSeq <= after + 1) ?? segments[0]
    if (!segment) return undefined
    let best: Position = { segment, offset: 0, seq: segment.firstSeq - 1 }
    for (const position of this.#positions.values())
      if (position.segment.number === segment.number && position.seq <= after && position.seq > best.seq)
        best = position
    return best
  }

  #remember(position: Position): void {
    this.#positions.delete(position.seq)
    this.#positions.set(position.seq, position)
    if (this.#positions.size > keptPositions) {
      const oldest = this.#positions.keys().next().value
      if (oldest !== undefined) this.#positions.delete(oldest)
    }
  }
}
