import { statSync } from 'node:fs'
import { layout, listSegments } from './layout.ts'
import { type Damage, type Place, type Tail, walkSegment } from './walk.ts'

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
  let before: Place | undefined
  for (const segment of segments) {
    const walked = await walkSegment(segment, {
      verify: true,
      continues: before,
      onBatch: ({ commit }) => {
        events += commit.n
      },
      ...(options.signal && { signal: options.signal }),
    })
    damage.push(...walked.damage)
    if (walked.tail) tail = { ...walked.tail, file: segment.path }
    before = walked.end
    bytes += statSync(segment.path).size
    options.onProgress?.(bytes)
  }
  return { segments: segments.length, events, bytes, damage, tail }
}
