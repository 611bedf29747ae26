import { AppError } from '../contract/errors.ts'
import {
  type AgentEvent,
  type AppendResult,
  type By,
  catalogue,
  type Draft,
  type ProducerStamp,
} from '../contract/event.ts'
import type { EventId, SessionId } from '../contract/ids.ts'
import { muster } from '../contract/principal.ts'
import type { ProjectTrust } from '../contract/project-trust.ts'
import type { LoopMode, Permit } from '../contract/values.ts'
import {
  emptyFleet,
  evolveFleet,
  type Fleet,
  type Lapse,
  producerState,
  restoreFleet,
  snapshotFleet,
} from '../core/fleet.ts'
import { byObserved, notLater, refuseReport } from '../core/reports.ts'
import { decide } from '../core/session/decide.ts'
import type { SessionState } from '../core/session/state.ts'
import type { Clock, Ids } from '../ports/clock.ts'
import type { JournalWriter } from '../ports/journal.ts'
import type { Blobs } from '../ports/storage.ts'
import { parseDraft, type Redact, type Redacted, stamp, type Words, wordsOf } from './prepare.ts'

export type EngineDeps = {
  readonly journal: JournalWriter
  readonly blobs: Blobs
  readonly clock: Clock
  readonly ids: Ids
  readonly redact: Redact
  /** A session that is not in memory, as it was when it ended; undefined when there is none. */
  readonly endedSession: (id: SessionId) => Promise<SessionState | undefined>
}

/** A batch of proposals by one caller. */
export type Proposal = {
  readonly items: readonly unknown[]
  /** Who brings them and how; without `via` they are facts that the daemon itself has found. */
  readonly by: By
  readonly producer?: ProducerStamp | undefined
}

/** Where an event was written. */
export type Appended = { readonly seq: number; readonly id: EventId }

type Prepared = Redacted<Draft> | AppError

/** What one batch is made with; there is no await between its beginning and the append. */
type Turn = {
  readonly lines: string[]
  readonly recordedAt: string
  readonly by: By
  readonly firstSeq: number
  readonly isFull: boolean
  producer: ProducerStamp | undefined
}

const nothing: readonly string[] = []

/** The only writer of events: what is proposed is checked, redacted, decided, numbered and made durable. */
export class Engine {
  readonly #deps: EngineDeps
  readonly #redactions: Record<string, number> = {}
  #fleet: Fleet = emptyFleet()
  #reopening: Promise<void> | undefined

  constructor(deps: EngineDeps) {
    this.#deps = deps
  }

  /** How state is rebuilt when the journal is opened. */
  readonly replay = {
    restore: (state: unknown): boolean => {
      const fleet = restoreFleet(state)
      if (fleet) this.#fleet = fleet
      return fleet !== undefined
    },
    event: (event: AgentEvent): void => {
      this.#fleet = evolveFleet(this.#fleet, event, event)
    },
  }

  /** Each item is taken or refused by itself; what is taken goes to disk as one batch, and is durable when this resolves. */
  async propose(proposal: Proposal): Promise<AppendResult[]> {
    await this.#writable()
    const prepared: Prepared[] = []
    for (const item of proposal.items) {
      const one = this.#prepare(item)
      prepared.push(one instanceof Promise ? await one : one)
    }
    await this.#loadEnded(prepared)
    await this.#writable()
    this.#refuseWhileReopening()
    const turn = this.#turn(proposal.by)
    const results = prepared.map((one, i): AppendResult => {
      const given = proposal.producer
      turn.producer = given && { id: given.id, epoch: given.epoch, n: given.n + i }
      try {
        if (one instanceof AppError) throw one
        return this.#take(one, turn)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return { status: 'rejected', code: error.code, message: error.message }
      }
    })
    await this.#append(turn.lines)
    return results
  }

  /** Facts of Muster itself, written as one batch. */
  async record(drafts: readonly Draft[]): Promise<void> {
    await this.#writable()
    const prepared = await Promise.all(drafts.map(async (draft) => this.#redacted(draft)))
    await this.#writable()
    this.#refuseWhileReopening()
    const turn = this.#turn(muster.by)
    for (const redacted of prepared) this.#write(redacted.value, turn, redacted)
    await this.#append(turn.lines)
  }

  /**
   * Events that belong together, decided in one turn: the guard sees the fleet as it is then. The first refusal
   * stops the rest, so the event that can be refused comes first. Without room, ends are written and the rest is
   * refused; what is `whole` is then refused with its ends. Answers where each was written.
   */
  async perform(
    drafts: readonly Draft[],
    guard?: (fleet: Fleet) => void,
    extent?: 'whole',
  ): Promise<readonly Appended[]> {
    await this.#writable()
    const prepared = await Promise.all(drafts.map(async (draft) => this.#redacted(draft)))
    await this.#loadEnded(prepared)
    await this.#writable()
    this.#refuseWhileReopening()
    guard?.(this.#fleet)
    const turn = this.#turn(muster.by)
    if (extent === 'whole' && turn.isFull && drafts.some((draft) => !isEnd(draft))) throw noRoom()
    const appended: Appended[] = []
    try {
      for (const one of prepared) appended.push(this.#decided(one, turn))
    } finally {
      await this.#append(turn.lines)
    }
    return appended
  }

  /** A session that is open, or ended lately, as deciding sees it; not to be changed. */
  session(id: SessionId): Readonly<SessionState> | undefined {
    return this.#session(id)
  }

  /** The same, also when it ended long ago and has left memory. */
  async known(id: SessionId): Promise<Readonly<SessionState> | undefined> {
    return this.#session(id) ?? (await this.#deps.endedSession(id))
  }

  /** Whether a producer has told this before. */
  isRepeat(stamp: ProducerStamp, by: By): boolean {
    return producerState(this.#fleet, stamp, by) === 'repeat'
  }

  /** What a person allowed for good. */
  permits(): readonly Permit[] {
    return this.#fleet.permits
  }

  /** How many permits and raised budgets of a journal of before are not in force, until that was told. */
  lapsed(): number {
    return this.#fleet.lapsed
  }

  /** What of them was told last. */
  lapse(): Lapse | undefined {
    return this.#fleet.lapse
  }

  /** How built-in agents work in a project, when somebody chose. */
  mode(projectRoot: string): LoopMode | undefined {
    return this.#fleet.modes.get(projectRoot)
  }

  /** What a person trusts of projects, by their roots; not to be changed. */
  trust(): ReadonlyMap<string, ProjectTrust> {
    return this.#fleet.trust
  }

  /** Every open session; not to be changed. */
  sessions(): IterableIterator<Readonly<SessionState>> {
    return this.#fleet.sessions.values()
  }

  /** Sessions that ended lately; not to be changed. */
  endedSessions(): IterableIterator<Readonly<SessionState>> {
    return this.#fleet.ended.values()
  }

  /** How far a producer has got, for one that goes on after a restart. */
  producer(id: string): { readonly epoch: number; readonly n: number } | undefined {
    return this.#fleet.producers.get(id)
  }

  /** State as a snapshot keeps it; take it and save it in one turn. */
  snapshot(): unknown {
    return snapshotFleet(this.#fleet)
  }

  redactionCounts(): Readonly<Record<string, number>> {
    return this.#redactions
  }

  openSessions(): number {
    return this.#fleet.sessions.size
  }

  producers(): number {
    return this.#fleet.producers.size
  }

  #prepare(item: unknown): Prepared | Promise<Prepared> {
    try {
      return this.#redacted(parseDraft(item))
    } catch (error) {
      if (error instanceof AppError) return error
      throw error
    }
  }

  #redacted(draft: Draft): Redacted<Draft> | Promise<Redacted<Draft>> {
    const words = this.#deps.redact(wordsOf(draft))
    return words instanceof Promise ? words.then((given) => without(draft, given)) : without(draft, words)
  }

  #turn(by: By): Turn {
    return {
      lines: [],
      recordedAt: new Date(this.#deps.clock.now()).toISOString(),
      by,
      firstSeq: this.#deps.journal.nextSeq(),
      isFull: this.#deps.journal.health() === 'full',
      producer: undefined,
    }
  }

  #take(prepared: Redacted<Draft>, turn: Turn): AppendResult {
    if (turn.producer) {
      const known = producerState(this.#fleet, turn.producer, turn.by)
      if (known === 'repeat') return { status: 'duplicate' }
      if (known === 'stale epoch')
        throw new AppError(
          'conflict',
          `producer ${turn.producer.id} has started a newer epoch; stop this instance`,
        )
    }
    return { status: 'appended', ...this.#decided(prepared, turn) }
  }

  #decided(prepared: Redacted<Draft>, turn: Turn): Appended {
    const { via } = turn.by
    if (via !== undefined) refuseReport(this.#fleet, prepared.value, turn.by)
    const draft = via === 'report' ? notLater(prepared.value, turn.recordedAt) : prepared.value
    const drafts = decide(this.#session(draft.sessionId), draft, turn.by)
    if (turn.isFull && !isEnd(draft)) throw noRoom()
    const last = drafts.length - 1
    // What an end takes along nobody said; of a record it is history like the rest.
    const forced = turn.by.via === 'import' ? turn : { ...turn, by: muster.by }
    for (let i = 0; i < last; i++) this.#write(drafts[i] as Draft, forced)
    return this.#write(drafts[last] as Draft, turn, prepared)
  }

  /** Only what a caller sent itself carries the receipt of redaction and the caller's number. */
  #write(draft: Draft, turn: Turn, own?: Redacted<Draft>): Appended {
    if (own && own.paths.length > 0) this.#count(own.counts)
    const seq = turn.firstSeq + turn.lines.length
    const id = draft.id ?? this.#deps.ids.event()
    const producer = own && turn.producer
    const redacted = own?.paths ?? nothing
    const by = draft.by ?? byOf(draft, turn.by)
    const given = { seq, id, recordedAt: turn.recordedAt, by, producer, redacted }
    turn.lines.push(stamp(draft, given, this.#putBlob))
    this.#fleet = evolveFleet(this.#fleet, draft, given)
    return { seq, id }
  }

  readonly #putBlob = (text: string) => this.#deps.blobs.put(text)

  #count(counts: Readonly<Record<string, number>>): void {
    for (const [rule, n] of Object.entries(counts)) this.#redactions[rule] = (this.#redactions[rule] ?? 0) + n
  }

  async #append(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return
    try {
      await this.#deps.journal.append(lines)
    } catch (error) {
      // Memory is ahead of the disk now; it is folded again before anything else is decided.
      this.#reopening ??= this.#reopen()
      throw error
    }
  }

  async #reopen(): Promise<void> {
    try {
      this.#fleet = emptyFleet()
      await this.#deps.journal.reopen(this.replay)
    } finally {
      this.#reopening = undefined
    }
  }

  async #writable(): Promise<void> {
    if (this.#reopening) await this.#reopening
    else if (this.#deps.journal.health() === 'poisoned') await (this.#reopening = this.#reopen())
  }

  /** From here to the append there is no await: seqs are given in the order of decisions. */
  #refuseWhileReopening(): void {
    if (this.#reopening || this.#deps.journal.health() === 'poisoned')
      throw new AppError('unavailable', 'the journal is being reopened after a failed write; try again')
  }

  #session(id: SessionId): SessionState | undefined {
    return this.#fleet.sessions.get(id) ?? this.#fleet.ended.get(id)
  }

  /** Sessions that are not in memory may have ended long ago; only the index knows them. */
  async #loadEnded(prepared: readonly Prepared[]): Promise<void> {
    const unknown = new Set<SessionId>()
    for (const one of prepared)
      if (!(one instanceof AppError) && !this.#session(one.value.sessionId)) unknown.add(one.value.sessionId)
    for (const id of unknown) {
      const ended = await this.#deps.endedSession(id)
      if (ended && !this.#fleet.sessions.has(id)) this.#fleet.ended.set(id, ended)
    }
  }
}

/** Most drafts have nothing to take out and stay the very object that came in. */
const without = (draft: Draft, { value, paths, counts }: Redacted<Words>): Redacted<Draft> => ({
  value: paths.length === 0 ? draft : ({ ...draft, ...value } as Draft),
  paths,
  counts,
})

const byOf = ({ type }: Draft, by: By): By =>
  by.via === 'hook' || by.via === 'transcript' ? byObserved(type, by) : by

const isEnd = ({ type }: Draft): boolean => catalogue[type].span === 'end'

const noRoom = (): AppError =>
  new AppError('unavailable', 'the disk is nearly full: only endings are written; free some space')
