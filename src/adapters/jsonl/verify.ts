import { statSync } from 'node:fs'
import { genesis, parseHeader } from './format.ts'
import { layout, listSegments, type SegmentFile } from './layout.ts'
import { lineGroups } from './lines.ts'
import { type Damage, type Tail, walkSegment } from './walk.ts'

export type Verified = {
  readonly segments: number
  readonly events: number
  readonly bytes: number
  readonly damage: readonly Damage[]
  /** An unfinished batch at the end: the next start cuts it, nothing acknowledged is in it. */
  readonly tail: (Tail & { readonly file: string }) | undefined
}

/** Reads every line, checks each digest, the chain over all segments and that seq has no gap. Changes nothing. */
export async function verifyJournal(
  dir: string,
  options: { onProgress?: (bytes: number) => void; signal?: AbortSignal } = {},
): Promise<Verified> {
  const segments = listSegments(layout(dir).segments)
  const damage: Damage[] = []
  let events = 0
  let bytes = 0
  let tail: Verified['tail']
  let expected = { chain: genesis, seq: 0 }
  for (const [i, segment] of segments.entries()) {
    const seam = await seamDamage(segment, i === 0 ? undefined : expected)
    if (seam) damage.push(seam)
    const walked = await walkSegment(segment, {
      verify: true,
      onBatch: ({ commit }) => {
        events += commit.n
      },
      ...(options.signal && { signal: options.signal }),
    })
    damage.push(...walked.damage)
    if (walked.tail) tail = { ...walked.tail, file: segment.path }
    expected = walked.end
    bytes += statSync(segment.path).size
    options.onProgress?.(bytes)
  }
  return { segments: segments.length, events, bytes, damage, tail }
}

async function seamDamage(
  segment: SegmentFile,
  expected: { chain: string; seq: number } | undefined,
): Promise<Damage | undefined> {
  for await (const group of lineGroups(segment.path)) {
    const header = parseHeader(group[0]?.text ?? '', segment.path)
    if (!expected || (header.chain === expected.chain && header.firstSeq === expected.seq + 1)) return undefined
    const reason = 'the segment does not continue the one before it; a segment is missing or was changed'
    return { file: segment.path, line: 1, offset: 0, seq: header.firstSeq, reason }
  }
  return { file: segment.path, line: 1, offset: 0, seq: segment.firstSeq, reason: 'the segment is empty' }
}
