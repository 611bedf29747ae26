import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { blobRefs } from '../../contract/blob-refs.ts'
import { type Foreign, foreignLine } from '../../contract/formats/foreign-json.ts'
import type { BlobRef } from '../../contract/values.ts'
import { acknowledgedSeq, checkSegments } from './anchor.ts'
import { genesis, layout, listSegments, packPath } from './format.ts'
import { tailDamage } from './recover.ts'
import { loadSnapshot } from './snapshots.ts'
import { type Damage, type Tail, walkSegment } from './walk.ts'

type Verified = {
  readonly segments: number
  readonly events: number
  readonly bytes: number
  /** Long texts that were read from their packs and compared with their digests. */
  readonly blobs: number
  readonly damage: readonly Damage[]
  /** An unfinished batch at the end: the next start cuts it, nothing acknowledged is in it. */
  readonly tail: (Tail & { readonly file: string }) | undefined
}

type Verify = {
  /** The last seq that others have seen: the index, the cursors of reactors. */
  readonly knownSeq?: number
  readonly onProgress?: (bytes: number) => void
  readonly signal?: AbortSignal
}

/**
 * Reads every line and every long text, checks each digest, the chain over all segments, that seq has no gap, and that
 * the end is where it was. Changes nothing.
 */
export async function verifyJournal(dir: string, options: Verify = {}): Promise<Verified> {
  const paths = layout(dir)
  // Before the segments: a daemon that is running may go on meanwhile.
  const snapshot = loadSnapshot(paths.snapshots, () => true)
  const segments = listSegments(paths.segments)
  const damage: Damage[] = []
  const blobs = new BlobCheck(paths.blobs, damage)
  let events = 0
  let bytes = 0
  let tail: Verified['tail']
  let end = { file: paths.segments, offset: 0, seq: 0 }
  let before: { seq: number; chain: string } | undefined = { seq: 0, chain: genesis }
  try {
    for (const segment of segments) {
      const walked = await walkSegment(segment, {
        verify: true,
        continues: before,
        onBatch: ({ lines, commit }) => {
          events += commit.n
          for (const line of lines) blobs.look(line, { seq: commit.seq, segment: segment.number })
        },
        ...(options.signal && { signal: options.signal }),
      })
      damage.push(...walked.damage)
      const isLast = segment === segments.at(-1)
      if (walked.tail && isLast) tail = { ...walked.tail, file: segment.path }
      else if (walked.tail && walked.damage.length === 0) damage.push(tailDamage(segment, walked))
      before = walked.end.chain === '' ? undefined : walked.end
      end = { file: segment.path, offset: walked.end.offset, seq: walked.end.seq }
      bytes += statSync(segment.path).size
      options.onProgress?.(bytes)
    }
  } finally {
    blobs.close()
  }
  const acknowledged = acknowledgedSeq(snapshot, options.knownSeq)
  if (end.seq < acknowledged)
    damage.push({
      ...end,
      seq: end.seq + 1,
      reason: `the journal ends here, but event ${acknowledged} was acknowledged`,
    })
  const isNamed = new Set(damage.map(({ file }) => file))
  for (const { file, reason } of checkSegments(paths, segments, snapshot?.anchor).findings)
    if (!isNamed.has(file)) damage.push({ file, offset: 0, reason: `the file ${reason}` })
  return { segments: segments.length, events, bytes, blobs: blobs.checked, damage, tail }
}

/** Looks up the long texts that events name, each once; a pack is kept open until another one is asked for. */
class BlobCheck {
  readonly #folder: string
  readonly #damage: Damage[]
  readonly #seen = new Set<string>()
  #pack = 0
  #fd: number | undefined

  constructor(folder: string, damage: Damage[]) {
    this.#folder = folder
    this.#damage = damage
  }

  get checked(): number {
    return this.#seen.size
  }

  /** A text goes to the pack of its segment or of one before it: other references came with an event from elsewhere. */
  look(line: string, { seq, segment }: { readonly seq: number; readonly segment: number }): void {
    if (!line.includes('{"$blob":')) return
    const event = foreignLine(line)
    if (!event || isImported(event)) return
    for (const ref of blobRefs(event)) if (ref.pack >= 1 && ref.pack <= segment) this.#check(ref, seq)
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #check(ref: BlobRef, seq: number): void {
    const name = `${ref.pack} ${ref.offset} ${ref.$blob}`
    if (this.#seen.has(name)) return
    this.#seen.add(name)
    const file = packPath(this.#folder, ref.pack)
    if (ref.pack !== this.#pack || this.#fd === undefined) this.#open(ref.pack, file)
    const note = (reason: string) => this.#damage.push({ file, offset: ref.offset, seq, reason })
    if (this.#fd === undefined) return void note('the pack is missing; a text is lost')
    if (ref.offset + ref.bytes > fstatSync(this.#fd).size) return void note('a text goes beyond its pack')
    const bytes = Buffer.alloc(ref.bytes)
    readSync(this.#fd, bytes, 0, ref.bytes, ref.offset)
    if (`sha256:${hash('sha256', bytes, 'hex')}` !== ref.$blob) note('a text does not match its digest')
  }

  #open(pack: number, file: string): void {
    this.close()
    this.#pack = pack
    if (statSync(file, { throwIfNoEntry: false })) this.#fd = openSync(file, 'r')
  }
}

/** What an import brought names the packs of another journal. Whoever else names its producer so is looked at. */
function isImported(event: Foreign): boolean {
  const { by, producer } = event as { by?: { via?: unknown }; producer?: { id?: unknown } }
  return by ? by.via === 'import' : String(producer?.id).startsWith('import:')
}
