import type { AgentCliName } from '../contract/config/names.ts'
import { derivedIds } from '../contract/derived-ids.ts'
import { AppError } from '../contract/errors.ts'
import type { Draft } from '../contract/event.ts'
import { type SessionId, shortId } from '../contract/ids.ts'
import type { Fleet } from '../core/fleet.ts'
import { type Evidence, noEvidence } from '../core/session/evidence/evidence.ts'
import { failureOf } from '../core/session/evidence/explain.ts'
import { observe } from '../core/session/evidence/observe.ts'
import type { JudgeOptions } from '../core/session/evidence/timeouts.ts'
import { judge, type Verdict } from '../core/session/evidence/verdict.ts'
import { hasEnded, type SessionState } from '../core/session/state.ts'
import type { AgentCli, ForeignSession, TranscriptMemory } from '../ports/agent-cli.ts'
import type { Ids } from '../ports/clock.ts'
import type { LineFiles } from '../ports/files.ts'
import { draftOf, type Root } from './sessions/drafts.ts'
import type { Parts } from './sessions/session-parts.ts'

/** What observing needs; no terminal is among it, and nothing that could change what is seen. */
type ObserverParts = Pick<Parts, 'engine' | 'clock' | 'ids' | 'files' | 'clis' | 'config' | 'onBug'> & {
  readonly processes: Pick<Parts['processes'], 'variable' | 'startedAt'>
  readonly env: Readonly<Record<string, string>>
}

/** Nobody looks: often enough to be roughly right, seldom enough to cost nothing. */
const beatMs = 30_000
/** Somebody looks: no sooner again than this, and no longer waited for than this. */
const freshMs = 2_000
const patienceMs = 250

/**
 * Finds the sessions of coding agents that were started outside of Muster and keeps what is known of them. It reads
 * what they write of themselves; nothing of theirs is written, and no signal is sent.
 */
export class Observer {
  readonly #parts: ObserverParts
  readonly #seen = new Map<SessionId, Seen>()
  readonly #held = new Set<SessionId>()
  readonly #stopped = new AbortController()
  #looking: Promise<void> | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #beating: Promise<void> | undefined

  constructor(parts: ObserverParts) {
    this.#parts = parts
  }

  /** Looks from time to time until it is stopped. */
  start(): void {
    const beat = async (): Promise<void> => {
      while (!this.#stopped.signal.aborted) {
        await this.#look()
        await this.#parts.clock.sleep(beatMs, this.#stopped.signal).catch(() => {})
      }
    }
    this.#beating = beat()
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#beating
    await this.#looking
  }

  get(id: SessionId): Seen | undefined {
    return this.#seen.get(id)
  }

  /** Keeps its hands off a session while it is taken over. */
  async without<T>(id: SessionId, act: () => Promise<T>): Promise<T> {
    this.#held.add(id)
    try {
      await this.#looking
      return await act()
    } finally {
      this.#held.delete(id)
    }
  }

  judgeOptions() {
    const { auto_complete } = this.#parts.config().child_agents
    return { now: this.#parts.clock.now(), idleAfterMs: auto_complete.idle_timeout * 1000 }
  }

  /** Somebody wants to see; they get what is known when finding out takes too long. */
  async wanted(): Promise<void> {
    const { clock } = this.#parts
    if (clock.monotonic() - this.#lookedAt < freshMs || this.#stopped.signal.aborted) return
    const late = new AbortController()
    await Promise.race([this.#look(), clock.sleep(patienceMs, late.signal).catch(() => {})])
    late.abort()
  }

  /** One look at a time; who comes meanwhile gets the same. */
  #look(): Promise<void> {
    this.#looking ??= this.#once()
      .catch((error: unknown) => {
        if (!this.#stopped.signal.aborted) this.#parts.onBug(error, 'observing')
      })
      .finally(() => {
        this.#looking = undefined
        this.#lookedAt = this.#parts.clock.monotonic()
      })
    return this.#looking
  }

  async #once(): Promise<void> {
    const isWanted = this.#parts.config().sessions.observe
    const present = new Set<SessionId>()
    const failed = new Set<string>()
    for (const cli of Object.values(this.#parts.clis))
      for (const found of isWanted ? await this.#found(cli.name, failed) : []) {
        const id = await this.#contain(`taking up ${found.foreignId}`, () => this.#taken(found))
        if (id === 'failed') failed.add(cli.name)
        else if (id) present.add(id)
      }
    for (const state of Array.from(this.#parts.engine.sessions()))
      if (state.managed?.origin === 'observed' && !present.has(state.sessionId)) {
        // A CLI whose files could not be read now has not ended.
        if (failed.has(state.managed.cli)) continue
        this.#seen.delete(state.sessionId)
        await this.#contain(`the end of ${state.sessionId}`, () =>
          this.#write(state, [ended(state, isWanted)]),
        )
      }
    for (const id of present) await this.#contain(`what ${id} does`, () => this.#conclude(id))
  }

  /** One session that cannot be observed must not hide all that come after it in every round. */
  async #contain<T>(what: string, act: () => Promise<T>): Promise<T | 'failed'> {
    try {
      return await act()
    } catch (error) {
      if (this.#stopped.signal.aborted) throw error
      this.#parts.onBug(error, `observing: ${what}`)
      return 'failed'
    }
  }

  /** Only of one that is still observed: in the meantime somebody may have taken it over. */
  async #write({ sessionId }: Readonly<SessionState>, drafts: readonly Draft[]): Promise<void> {
    if (drafts.length === 0 || this.#held.has(sessionId)) return
    const guard = ({ sessions }: Fleet): void => {
      if (sessions.get(sessionId)?.managed?.origin !== 'observed')
        throw new AppError('conflict', 'taken over')
    }
    await this.#parts.engine.perform(drafts, guard).catch((error: unknown) => {
      if (!(error instanceof AppError && error.code === 'conflict')) throw error
    })
  }

  async #found(cli: AgentCliName, failed: Set<string>): Promise<readonly ForeignSession[]> {
    try {
      return await this.#parts.clis[cli].foreign(this.#parts.env, this.#stopped.signal)
    } catch (error) {
      failed.add(cli)
      if (!this.#stopped.signal.aborted) this.#parts.onBug(error, `observing ${cli}`)
      return []
    }
  }

  /** Takes up one that is not ours; answers which session it is. */
  async #taken(found: ForeignSession): Promise<SessionId | undefined> {
    const { engine, processes } = this.#parts
    if (found.pid === undefined || (await processes.variable(found.pid, 'MUSTER_SESSION'))) return undefined
    // Of a program that is ending the mark is gone first: one of ours would look like one from outside.
    if ((await processes.startedAt(found.pid)) === undefined) return undefined
    const isOurs = ({ managed }: Readonly<SessionState>): boolean =>
      managed?.origin === 'managed' && managed.foreignId === found.foreignId
    if (Array.from(engine.sessions()).some(isOurs)) return undefined
    const { id, state } = await this.#identified(found)
    const drafts = begun(found, { id, state, ids: this.#parts.ids })
    if (drafts.length > 0) await engine.perform(drafts)
    const seen = this.#seen.get(id)
    if (seen) seen.found = found
    else this.#seen.set(id, new Seen(found))
    return id
  }

  /** The same conversation is the same session, unless that one was taken over and is ours since. */
  async #identified(found: ForeignSession) {
    for (let again = 0; ; again++) {
      const id = observedId(found, again)
      const state = await this.#parts.engine.known(id)
      if (state?.managed?.origin !== 'managed') return { id, state }
    }
  }

  /** Writes what changed, and only that. */
  async #conclude(id: SessionId): Promise<void> {
    const { engine, files, clis } = this.#parts
    const [seen, state] = [this.#seen.get(id), engine.session(id)]
    if (!seen || state?.managed?.origin !== 'observed') return
    await seen.read(files, clis[seen.found.cli])
    const verdict = seen.verdict(this.judgeOptions())
    const [from, to] = [state.lifecycle, verdict.lifecycle]
    // That its program died is told as the end of the session.
    const isChanged = from !== to && to !== 'starting' && to !== 'error'
    const changed = {
      from,
      to,
      activity: verdict.activity,
      ...(to === 'failed' && { detail: failureOf(verdict) }),
    }
    await this.#write(state, [
      ...(isChanged ? [draftOf(rootOf(state), 'session.state.changed', changed)] : []),
      ...news(seen.found, state),
    ])
  }
}

const titleChars = 200

/** The session of a conversation: the same one however often it is found. */
const observedId = ({ cli, foreignId }: ForeignSession, again: number): SessionId =>
  derivedIds(`observed ${cli} ${foreignId} ${again}`, 0).session

/** What a person called the conversation, or its CLI did. */
const titleOf = ({ title }: ForeignSession): string | undefined =>
  title?.replaceAll(/\s+/g, ' ').trim().slice(0, titleChars) || undefined

type Known = {
  readonly id: SessionId
  readonly state: Readonly<SessionState> | undefined
  readonly ids: Ids
}

/** The facts of a session that is seen for the first time, or again after its end; none for one that is known. */
function begun(found: ForeignSession, { id, state, ids }: Known): Draft[] {
  if (state && !hasEnded(state)) return []
  const root: Root = {
    sessionId: id,
    traceId: state?.traceId ?? ids.trace(),
    runId: ids.run(),
    spanId: ids.span(),
    actor: 'muster',
  }
  if (state) return [draftOf(root, 'session.reopened', { by: 'muster', reason: 'its program runs again' })]
  const name = `${found.cli}-${shortId(id)}`
  return [
    draftOf(root, 'session.started', {
      name,
      origin: 'observed',
      cli: found.cli,
      workingDir: found.workingDir,
      foreignId: found.foreignId,
      depth: 0,
      agent: { agentId: name, agentType: found.cli },
    }),
  ]
}

/** What is new of a session that is known: what it is called, and where its record is. */
function news(found: ForeignSession, state: Readonly<SessionState>): Draft[] {
  const { task, transcript } = state.managed ?? {}
  const title = titleOf(found)
  const change = {
    ...(title !== undefined && title !== task && { task: title }),
    ...(found.transcript !== undefined &&
      found.transcript !== transcript && { transcript: found.transcript }),
  }
  return Object.keys(change).length === 0
    ? []
    : [draftOf(rootOf(state), 'session.updated', { ...change, by: 'cli' })]
}

/** Where facts of an open session belong. */
function rootOf(state: Readonly<SessionState>): Root {
  const span = [...state.open.values()].find(({ kind }) => kind === 'session')
  if (!span || !state.traceId) throw new Error(`session ${state.sessionId} is not open`)
  const { runId, spanId } = span
  return { sessionId: state.sessionId, traceId: state.traceId, runId, spanId, actor: 'muster' }
}

/** Its program is gone; whether its work was done nobody said. */
const ended = (state: Readonly<SessionState>, isWanted: boolean): Draft =>
  draftOf(rootOf(state), 'session.completed', {
    outcome: 'cancelled',
    reason: isWanted
      ? `its program was quit; continue it with: sm adopt ${shortId(state.sessionId)}`
      : 'sessions outside Muster are no longer watched (sessions.observe)',
  })

const tailBytes = 512 * 1024
const pieceBytes = 1 << 20

const lifecycles = { idle: 'idle', busy: 'running', waiting: 'waiting_input' } as const

/** What is known of one session that runs outside of Muster; all of it can be read again from its own files. */
class Seen {
  found: ForeignSession
  #evidence: Evidence = noEvidence
  #offset: number | undefined
  readonly #memory: TranscriptMemory = {}

  constructor(found: ForeignSession) {
    this.found = found
  }

  get evidence(): Evidence {
    return this.#evidence
  }

  /** Reads what was added to its record since the last time; of an old record only the end. */
  async read(files: LineFiles, { dialect }: AgentCli): Promise<void> {
    const { transcript } = this.found
    if (transcript === undefined) return
    if (this.#offset === undefined) {
      const whole = await files.read(transcript, 0, 1)
      this.#offset = Math.max(0, (whole?.size ?? 0) - tailBytes)
    }
    const read = await files.read(transcript, this.#offset, pieceBytes)
    for (const { text } of read?.lines ?? [])
      for (const signal of dialect.line(text, { memory: this.#memory }))
        this.#evidence = observe(this.#evidence, signal)
    this.#offset = read?.end ?? this.#offset
  }

  /** What the CLI says of itself counts before anything that its record suggests. */
  verdict(options: JudgeOptions): Verdict {
    const judged = judge(this.#evidence, options)
    const { status } = this.found
    if (status === undefined) return judged
    const isBusy = status === 'busy'
    const { waitingFor: _waitingFor, waitingUntil: _waitingUntil, ...rest } = judged
    return {
      ...rest,
      // A CLI that waits for a prompt does not say how its last turn ended.
      lifecycle: status === 'idle' && judged.lifecycle === 'failed' ? 'failed' : lifecycles[status],
      activity: isBusy ? (judged.activity === 'idle' ? 'working' : judged.activity) : 'idle',
      ...(status === 'waiting' && { waitingFor: judged.waitingFor ?? ('dialog' as const) }),
      health: 'ok',
    }
  }
}
