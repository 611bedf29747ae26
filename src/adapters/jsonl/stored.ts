import { AppError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { StoredEvent } from '../../ports/journal.ts'
import { seqOf } from './format.ts'

/** A line read from disk; its event is parsed when somebody asks, since most followers only pass the text on. */
export class StoredLine implements StoredEvent {
  readonly seq: number
  readonly line: string
  #event: AgentEvent | undefined

  constructor(line: string, seq = seqOf(line)) {
    this.seq = seq
    this.line = line
  }

  get event(): AgentEvent {
    this.#event ??= parsed(this.line, this.seq)
    return this.#event
  }
}

function parsed(line: string, seq: number): AgentEvent {
  try {
    return JSON.parse(line) as AgentEvent
  } catch (cause) {
    const cure = 'see which with: sm journal verify'
    throw new AppError('failed', `the line of seq ${seq} in the journal is damaged; ${cure}`, { cause })
  }
}

/** Stands in the place of a line that was erased or damaged: the seq has no gap and the chain still holds. */
export const tombstone = (seq: number, digest: string, reason: string): string =>
  `{"seq":${seq},"tombstone":${JSON.stringify({ digest, reason })}}`

const tombstoneLine = /^\{"seq":\d+,"tombstone":\{"digest":"([0-9a-f]+)"/

/** The digest of the line a tombstone replaces; undefined for a line that is none. */
export const tombstoneDigest = (line: string): string | undefined =>
  line.startsWith(',"tombstone"', line.indexOf(',')) ? tombstoneLine.exec(line)?.[1] : undefined

export const isTombstone = (line: string): boolean => tombstoneDigest(line) !== undefined
