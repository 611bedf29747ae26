import { cpSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { canonicalProjection } from '../../src/http/frames.ts'
import { openStream } from '../../src/http/sse.ts'
import type { JournalReader } from '../../src/ports/journal.ts'
import { batchOf, openJournal, tempFolder } from './temp-journal.ts'

const small = { segmentBytes: 3000, groupMs: 0 }

/** Events in the journals of this file: two batches of three in each segment, and one batch in the last. */
export const total = 33

/** A journal of several small segments with long texts in packs, stopped as a daemon stops. */
export async function wholeJournal(): Promise<string> {
  const dir = tempFolder()
  const { journal } = await openJournal(dir, small)
  const saved: Promise<void>[] = []
  journal.onRotate(() => saved.push(journal.snapshot({ rotations: saved.length })))
  for (let i = 0; i < total / 3; i++) {
    const [first, second, third] = batchOf(journal, [`a${i}`, `b${i}`, `c${i}`])
    const long = journal.blobs.put(`text ${i} ${'x'.repeat(100)}`)
    const event = JSON.parse(third as string) as Record<string, unknown>
    const line = JSON.stringify({ ...event, payload: { message: long } })
    await journal.append([first as string, second as string, line])
  }
  await Promise.all(saved)
  await journal.snapshot({ at: total })
  await journal.close()
  return dir
}

/** A copy that may be damaged. */
export function copyOf(whole: string): string {
  const dir = tempFolder()
  cpSync(whole, dir, { recursive: true })
  return dir
}

const filesIn = (dir: string, folder: string): string[] =>
  readdirSync(join(dir, folder))
    .sort()
    .map((name) => join(dir, folder, name))

export const segmentsOf = (dir: string): string[] => filesIn(dir, 'segments')
export const packsOf = (dir: string): string[] => filesIn(dir, 'blobs')

export const openAgain = (dir: string, knownSeq = 0) => openJournal(dir, { ...small, knownSeq })

const at = (paths: readonly string[], i: number): string => paths.at(i) as string

export function flipBit(path: string, offset: number, bit: number): void {
  const bytes = readFileSync(path)
  bytes[offset] = (bytes[offset] as number) ^ (1 << bit)
  writeFileSync(path, bytes)
}

function change(path: string, edit: (text: string) => string): void {
  writeFileSync(path, edit(readFileSync(path, 'utf8')))
}

/** What happens to the files of a journal, and how it must be met. */
export type Damage = {
  readonly what: string
  readonly harm: (dir: string) => void
  /** Whether a start is refused, goes on and tells, or cannot see it without reading everything. */
  readonly start: 'refused' | 'told' | 'unseen'
  /** Whether events are missing afterwards. */
  readonly isHole?: boolean
  /** What the other followers have seen, where the journal's own files are not enough. */
  readonly knownSeq?: number
  /** A person who accepts the loss has to remove or rename a file first. */
  readonly isByHand?: boolean
}

export const damages: readonly Damage[] = [
  {
    what: 'two closed segments swapped',
    harm: (dir) => {
      const [, second, third] = segmentsOf(dir) as [string, string, string]
      renameSync(second, `${second}.x`)
      renameSync(third, second)
      renameSync(`${second}.x`, third)
    },
    start: 'told',
    isHole: true,
    isByHand: true,
  },
  {
    what: 'the first segment missing',
    harm: (dir) => rmSync(at(segmentsOf(dir), 0)),
    start: 'told',
    isHole: true,
  },
  {
    what: 'a segment missing in the middle',
    harm: (dir) => rmSync(at(segmentsOf(dir), 2)),
    start: 'told',
    isHole: true,
  },
  {
    what: 'two segments missing in the middle',
    harm: (dir) => {
      for (const path of segmentsOf(dir).slice(1, 3)) rmSync(path)
    },
    start: 'told',
    isHole: true,
  },
  {
    what: 'the last segment missing',
    harm: (dir) => rmSync(at(segmentsOf(dir), -1)),
    start: 'refused',
    isHole: true,
  },
  {
    what: 'all segments missing',
    harm: (dir) => {
      for (const path of segmentsOf(dir)) rmSync(path)
    },
    start: 'refused',
    isHole: true,
  },
  {
    what: 'everything missing that only others still know of',
    harm: (dir) => {
      for (const path of [...segmentsOf(dir), ...filesIn(dir, 'snapshots')]) rmSync(path)
    },
    start: 'refused',
    isHole: true,
    knownSeq: total,
  },
  {
    what: 'the last batch cut off whole',
    harm: (dir) => {
      const path = at(segmentsOf(dir), -1)
      change(path, (text) => text.slice(0, text.lastIndexOf(`{"seq":${total - 2},`)))
    },
    start: 'refused',
    isHole: true,
  },
  {
    what: 'the last segment cut inside its last batch',
    harm: (dir) => {
      const path = at(segmentsOf(dir), -1)
      truncateSync(path, readFileSync(path).length - 7)
    },
    start: 'refused',
    isHole: true,
  },
  {
    what: 'a closed segment cut',
    harm: (dir) => {
      const path = at(segmentsOf(dir), 1)
      truncateSync(path, readFileSync(path).length - 700)
    },
    start: 'told',
    isHole: true,
  },
  {
    what: 'a line added to a closed segment',
    harm: (dir) => change(at(segmentsOf(dir), 1), (text) => `${text}{"more":1}\n`),
    start: 'told',
  },
  {
    what: 'a foreign file in the place of a closed segment',
    harm: (dir) => writeFileSync(at(segmentsOf(dir), 1), 'nothing of ours\n'),
    start: 'told',
    isHole: true,
  },
  {
    what: 'a segment of another journal',
    harm: (dir) => change(at(segmentsOf(dir), 1), (text) => text.replace(/"chain":"./, '"chain":"x')),
    start: 'told',
  },
  {
    what: 'a closed segment of a newer format',
    harm: (dir) =>
      change(at(segmentsOf(dir), 1), (text) =>
        text.replace('"version":2,"minReader":2', '"version":9,"minReader":9'),
      ),
    start: 'refused',
    isByHand: true,
  },
  {
    what: 'a bit flipped in a closed segment',
    harm: (dir) => {
      const path = at(segmentsOf(dir), 1)
      flipBit(path, readFileSync(path).indexOf('"message":"') + 12, 0)
    },
    start: 'unseen',
    isHole: true,
  },
  {
    what: 'a pack missing',
    harm: (dir) => rmSync(at(packsOf(dir), 1)),
    start: 'told',
  },
  {
    what: 'a pack cut',
    harm: (dir) => truncateSync(at(packsOf(dir), 0), 50),
    start: 'told',
  },
  {
    what: 'a bit flipped in a pack',
    harm: (dir) => flipBit(at(packsOf(dir), 0), 20, 3),
    start: 'unseen',
  },
]

/** What a stream's client is given from the first event to the last: whole lines, and the ranges it is told to miss. */
export async function streamed(journal: JournalReader): Promise<{ lines: string[]; missing: number[] }> {
  const lines: string[] = []
  const missing: number[] = []
  const { body, end } = openStream({
    journal,
    clock: systemClock,
    projection: canonicalProjection(() => true),
    start: { kind: 'resume', cursor: { seq: 0 } },
    heartbeatMs: 600_000,
    stallMs: 600_000,
    onBug: (error) => {
      throw error
    },
  })
  const last = journal.watermark()
  let text = ''
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString('utf8')
    for (;;) {
      const at = text.indexOf('\n\n')
      if (at === -1) break
      const block = text.slice(0, at)
      text = text.slice(at + 2)
      const [, id = '0'] = /^id: (\d+)/.exec(block) ?? []
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data === undefined) continue
      if (block.includes('event: resync')) {
        const told = JSON.parse(data) as { oldest: number; missing?: { from: number; to: number } }
        const { from, to } = told.missing ?? { from: 1, to: last }
        for (let seq = from; seq <= to; seq++) missing.push(seq)
      } else lines.push(data)
      if (Number(id) >= last) end()
    }
  }
  return { lines, missing }
}
