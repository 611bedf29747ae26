import type { Finding } from './anchor.ts'
import { headerOf, type SegmentFile } from './format.ts'
import { walkSegment } from './walk.ts'

/**
 * Reads closed segments from their first byte to their last, one after the other: a start compares sizes and headers
 * only, so a bit that changed inside of one is noticed here.
 */
export class ReadAgain {
  #last = 0

  /** What is wrong with the next segment of which nothing is known yet. */
  async next(
    segments: readonly SegmentFile[],
    known: readonly Finding[],
    signal: AbortSignal,
  ): Promise<Finding | undefined> {
    const closed = segments.slice(0, -1).filter(({ number }) => known.every((one) => one.segment !== number))
    const segment = closed.find(({ number }) => number > this.#last) ?? closed[0]
    const following = segments.find(({ number }) => number === (segment?.number ?? 0) + 1)
    this.#last = segment?.number ?? 0
    if (!segment || !following) return undefined
    try {
      return await readThrough(segment, following, signal)
    } catch (error) {
      if (signal.aborted) return undefined
      throw error
    }
  }
}

async function readThrough(
  segment: SegmentFile,
  following: SegmentFile,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const { number, path } = segment
  const { damage, tail, end } = await walkSegment(segment, { verify: true, onBatch() {}, signal })
  const [first] = damage
  const next = headerOf(following)
  const found = (reason: string): Finding => ({ segment: number, file: path, reason })
  if (first) return found(`is damaged in line ${first.line ?? 1}: ${first.reason}`)
  if (tail) return found(`is damaged at its end: ${tail.reason}`)
  // Of a next one that has no header something else is said.
  if ('problem' in next || (end.seq === next.firstSeq - 1 && end.chain === next.chain)) return undefined
  return found('does not end where the next segment begins')
}
