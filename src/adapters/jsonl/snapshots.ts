import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../system/durable-files.ts'
import type { Anchored } from './anchor.ts'

/** The state of everything open at a seq, and the place in the journal where reading goes on. */
export type Snapshot = {
  readonly seq: number
  readonly segment: number
  readonly place: {
    readonly offset: number
    readonly line: number
    readonly seq: number
    readonly chain: string
  }
  /** What the segments were like, oldest first; snapshots of before have none. */
  readonly anchor?: readonly Anchored[]
  readonly state: unknown
}

const keep = 2

export async function saveSnapshot(folder: string, snapshot: Snapshot): Promise<void> {
  const body = JSON.stringify(snapshot)
  const name = `${String(snapshot.seq).padStart(12, '0')}.json`
  await replaceFile(join(folder, name), `${hash('sha256', body, 'hex')}\n${body}`)
  for (const old of names(folder).slice(0, -keep)) rmSync(join(folder, old), { force: true })
}

/** The newest snapshot that is of use. */
export function loadSnapshot(folder: string, usable: (snapshot: Snapshot) => boolean): Snapshot | undefined {
  for (const snapshot of intactSnapshots(folder)) if (usable(snapshot)) return snapshot
  return undefined
}

/** Snapshots that are whole, the newest first; a damaged one is passed over, since the journal can replace it. */
export function* intactSnapshots(folder: string): Generator<Snapshot> {
  for (const name of names(folder).toReversed()) {
    const text = readFileSync(join(folder, name), 'utf8')
    const end = text.indexOf('\n')
    const body = text.slice(end + 1)
    if (end === -1 || hash('sha256', body, 'hex') !== text.slice(0, end)) continue
    yield JSON.parse(body) as Snapshot
  }
}

/** A journal that was copied without its snapshots has none. */
const names = (folder: string): string[] =>
  (existsSync(folder) ? readdirSync(folder) : []).filter((name) => /^\d{12}\.json$/.test(name)).sort()
