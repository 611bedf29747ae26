import type { AgentEvent } from '../../contract/event.ts'
import type { StoredEvent } from '../../ports/journal.ts'
import { seqOf } from './format.ts'

/** A line read from disk; its event is parsed when somebody asks, since most followers only pass the text on. */
export class StoredLine implements StoredEvent {
  readonly seq: number
  readonly line: string
  #event: AgentEvent | undefined

  constructor(line: string) {
    this.seq = seqOf(line)
    this.line = line
  }

  get event(): AgentEvent {
    this.#event ??= JSON.parse(this.line) as AgentEvent
    return this.#event
  }
}

/** A line whose event was erased or set aside keeps its seq, so that the order has no gap. */
export const isTombstone = (line: string): boolean => line.includes('"tombstone":{') && /^\{"seq":\d+,"tombstone":/.test(line)
