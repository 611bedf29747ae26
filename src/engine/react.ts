import { type AgentEvent, type EventType, typeOfLine } from '../contract/event.ts'
import type { Cursors } from '../ports/cursors.ts'
import type { JournalReader } from '../ports/journal.ts'

/** Something that acts on facts. It is told of each at least once, so what it does must bear a repeat. */
export type Reactor = {
  readonly name: string
  /** Other types are passed over without being parsed. */
  readonly types: ReadonlySet<EventType>
  /** What was written before it ran for the first time is none of its business. */
  readonly startsAtEnd?: boolean
  /** What it does leaves the machine: where it stands is saved after each event, so that little is repeated. */
  readonly isSavedEach?: boolean
  react(event: AgentEvent, signal: AbortSignal): Promise<void>
}

/** What a reactor could not handle; it is shown, and the reactor went on. */
export type Parked = { readonly seq: number; readonly error: string }

/** Where a reactor stands. */
export type ReactorReport = {
  readonly name: string
  readonly seq: number
  readonly parked: readonly Parked[]
  readonly error?: string
}

type ReactorDeps = {
  readonly journal: JournalReader
  readonly cursors: Cursors
  readonly onParked?: (parked: Parked) => void
}

const pageEvents = 500
const parkedKept = 100

/** Runs one reactor along the journal from its cursor, until the signal ends it. */
export class ReactorRun {
  readonly #reactor: Reactor
  readonly #deps: ReactorDeps
  #seq = 0
  #parked: Parked[] = []

  constructor(reactor: Reactor, deps: ReactorDeps) {
    this.#reactor = reactor
    this.#deps = deps
  }

  report(): ReactorReport {
    return { name: this.#reactor.name, seq: this.#seq, parked: this.#parked }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { journal, cursors } = this.#deps
    this.#seq = await cursors.load(this.#reactor.name)
    if (this.#seq === 0 && this.#reactor.startsAtEnd) {
      this.#seq = journal.watermark()
      await cursors.save(this.#reactor.name, this.#seq)
    }
    while (!signal.aborted) {
      const page = await journal.page(this.#seq, pageEvents)
      if (page.length === 0) {
        await cursors.save(this.#reactor.name, this.#seq)
        await journal.wait(this.#seq, signal).catch((error: unknown) => {
          if (!signal.aborted) throw error
        })
      }
      for (const stored of page) {
        if (signal.aborted) break
        const isMeant = this.#reactor.types.has(typeOfLine(stored.line) as EventType)
        if (isMeant && !(await this.#take(stored.event, signal))) break
        this.#seq = stored.seq
        if (isMeant && this.#reactor.isSavedEach) await cursors.save(this.#reactor.name, this.#seq)
      }
    }
    await cursors.save(this.#reactor.name, this.#seq)
  }

  /** False when it was stopped in the middle: then it begins with this event again. */
  async #take(event: AgentEvent, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#reactor.react(event, signal)
    } catch (error) {
      if (signal.aborted) return false
      // Whatever it was, one event must not stop all that follow it.
      const parked = { seq: event.seq, error: String(error) }
      this.#parked = [...this.#parked, parked].slice(-parkedKept)
      this.#deps.onParked?.(parked)
    }
    return true
  }
}
