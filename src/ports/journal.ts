import type { AgentEvent } from '../contract/event.ts'

/** One line of the journal: its raw text, so that followers need not serialise again, and its event. */
export type StoredEvent = {
  readonly seq: number
  readonly line: string
  readonly event: AgentEvent
}

/**
 * How the journal is: `damaged` is written as usual while a file of its past is not as it was, `full` takes endings only,
 * `poisoned` takes nothing until it was opened again.
 */
export type JournalHealth = 'ok' | 'damaged' | 'full' | 'poisoned'

/** A file of the journal that is not as it was left, and why. */
export type JournalFinding = { readonly file: string; readonly reason: string }

/** Who rebuilds state when the journal is opened: from a snapshot, then event by event. */
export type Replay = {
  /** False when the state of a snapshot is not enough: then every event is told from the first one on. */
  restore(state: unknown): boolean
  event(event: AgentEvent): void
}

/** The writing half. Only the engine holds it. */
export type JournalWriter = {
  /** The seq the next event must carry. */
  nextSeq(): number
  /** Writes one batch of lines whole; resolves when it is durable, rejects with `unavailable` when it is not. */
  append(lines: readonly string[]): Promise<void>
  health(): JournalHealth
  /** After a failure: cuts what was not acknowledged and folds state again from disk. */
  reopen(replay: Replay): Promise<unknown>
}

/** The reading half: followers pull, nobody queues for them. */
export type JournalReader = {
  /** The last durable seq; 0 when there is none. */
  watermark(): number
  /** The first seq that is still kept. */
  oldest(): number
  /** Durable events after a seq, oldest first, at most `limit`; empty when there is none yet. */
  page(after: number, limit: number): Promise<readonly StoredEvent[]>
  /** Resolves when the watermark has passed `after`, or rejects when the signal aborts. */
  wait(after: number, signal: AbortSignal): Promise<void>
}

/** How large the journal is. */
export type JournalStats = {
  readonly segments: number
  readonly bytes: number
  readonly blobBytes: number
  readonly snapshotSeq: number
  /** Events that wait to be written. */
  readonly pending: number
}
