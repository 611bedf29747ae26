import { type AgentEvent, type EventType, typeOfLine } from '../contract/event.ts'
import type { Clock } from '../ports/clock.ts'
import type { JournalReader, StoredEvent } from '../ports/journal.ts'
import type { Cursors } from '../ports/storage.ts'

/** Something that acts on facts. It is told of each at least once, so what it does must bear a repeat. */
export type Reactor = {
  readonly name: string
  /** Other types are passed over without being parsed. */
  readonly types: ReadonlySet<EventType>
  /** What was written before it ran for the first time is none of its business. */
  readonly startsAtEnd?: boolean
  /**
   * When where it stands is saved; else when it has done all there is. `each`: after each event, for what leaves the
   * machine and is to be repeated little. `seldom`: a repeat finds that all is done, so it is not worth a file.
   */
  readonly saved?: 'each' | 'seldom'
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

/** What a follower says of events that it had to pass over. */
export const unreadable = (from: number, to: number): string =>
  `${from === to ? `event ${from}` : `events ${from} to ${to}`} of the journal cannot be read: damaged or lost; see: sm journal verify`

type ReactorDeps = {
  readonly journal: JournalReader
  readonly cursors: Cursors
  readonly clock: Pick<Clock, 'sleep'>
  /** Told once of what keeps it from reading or from saving where it is; it tries again by itself. */
  readonly onStuck?: (error: unknown) => void
  readonly onParked?: (parked: Parked) => void
}

const pageEvents = 500
const parkedKept = 100
const retryMs = 1000
/** Events that are none of its business are read again after a crash, up to so many. */
const unsavedEvents = 10_000

/** Runs one reactor along the journal from its cursor, until the signal ends it. */
export class ReactorRun {
  readonly #reactor: Reactor
  readonly #deps: ReactorDeps
  #seq = 0
  #savedSeq = 0
  #hasActed = false
  #parked: Parked[] = []
  #error: string | undefined

  constructor(reactor: Reactor, deps: ReactorDeps) {
    this.#reactor = reactor
    this.#deps = deps
  }

  report(): ReactorReport {
    const { name } = this.#reactor
    return { name, seq: this.#seq, parked: this.#parked, ...(this.#error && { error: this.#error }) }
  }

  /** A disk that fails for a moment must not end a reactor for good: the journal has all that it has not done. */
  async run(signal: AbortSignal): Promise<void> {
    const end = this.#deps.journal.watermark()
    let isLoaded = false
    while (!signal.aborted) {
      try {
        if (!isLoaded) await this.#load(end)
        isLoaded = true
        await this.#follow(signal)
      } catch (error) {
        if (signal.aborted) break
        this.#stuck(error)
        await this.#deps.clock.sleep(retryMs, signal).catch(() => {})
      }
    }
    if (isLoaded && this.#seq !== this.#savedSeq) await this.#save()
  }

  #stuck(error: unknown): void {
    const text = String(error)
    if (this.#error !== text) this.#deps.onStuck?.(error)
    this.#error = text
  }

  async #load(end: number): Promise<void> {
    this.#seq = await this.#deps.cursors.load(this.#reactor.name)
    this.#savedSeq = this.#seq
    if (this.#seq === 0 && this.#reactor.startsAtEnd) {
      this.#seq = end
      await this.#save()
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { journal } = this.#deps
    while (!signal.aborted) {
      const end = journal.watermark()
      const page = await journal.page(this.#seq, pageEvents)
      if (page.length === 0) {
        this.#passHole(end)
        if (this.#hasActed || this.#seq - this.#savedSeq > unsavedEvents) await this.#save()
        this.#error = undefined
        await journal.wait(this.#seq, signal).catch((error: unknown) => {
          if (!signal.aborted) throw error
        })
      }
      for (const stored of page) {
        if (signal.aborted) break
        this.#passHole(stored.seq - 1)
        const isMeant = this.#reactor.types.has(typeOfLine(stored.line) as EventType)
        if (isMeant && !(await this.#take(stored, signal))) break
        this.#seq = stored.seq
        this.#hasActed ||= isMeant && this.#reactor.saved !== 'seldom'
        if (isMeant && this.#reactor.saved === 'each') await this.#save()
      }
    }
  }

  /** What cannot be read cannot be acted on; that is shown like an event that could not be handled. */
  #passHole(to: number): void {
    if (to <= this.#seq) return
    this.#park({ seq: this.#seq + 1, error: unreadable(this.#seq + 1, to) })
    this.#seq = to
  }

  #park(parked: Parked): void {
    this.#parked = [...this.#parked, parked].slice(-parkedKept)
    this.#deps.onParked?.(parked)
  }

  async #save(): Promise<void> {
    await this.#deps.cursors.save(this.#reactor.name, this.#seq)
    this.#savedSeq = this.#seq
    this.#hasActed = false
  }

  /** False when it was stopped in the middle: then it begins with this event again. */
  async #take(stored: StoredEvent, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#reactor.react(stored.event, signal)
    } catch (error) {
      if (signal.aborted) return false
      // Whatever it was, one event must not stop all that follow it.
      this.#park({ seq: stored.seq, error: String(error) })
    }
    return true
  }
}
