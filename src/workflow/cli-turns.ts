import type { AgentEvent, EventType, Observed } from '../contract/event.ts'
import type { RunId, SessionId } from '../contract/ids.ts'
import { hasEnded, isTurn, type SessionState } from '../core/session/state.ts'
import { agentEndTypes, endTypes } from '../core/trace/span-endings.ts'
import type { ReadObserved } from '../ports/facts.ts'
import type { Undelivered } from '../ports/workers.ts'
import type { FactWaits } from './fact-waits.ts'

/** What is listened for: ends of turns and of sessions, and what became of messages. */
export const turnFacts = [
  ...endTypes,
  'agent.spawned',
  'message.queued',
  'message.accepted',
  'message.failed',
] as const satisfies readonly EventType[]

/** How a turn of a program came to its end, or its session did. */
export type TurnEnd = {
  readonly isGood: boolean
  readonly said: unknown
  readonly isOver: boolean
  /** It never had its prompt. */
  readonly undelivered?: Undelivered
  /** It was told to stop, which the end of its session does too. */
  readonly isCancelled?: boolean
  /** Why its session was killed. */
  readonly killed?: string | undefined
}

type TurnDeps = {
  readonly waits: FactWaits
  readonly session: (sessionId: SessionId) => Readonly<SessionState> | undefined
  readonly events: ReadObserved
}

/** The words that ask for a better answer, by which they are found again after a crash. */
export const repairOf = (sessionId: SessionId): string => `${sessionId}:repair`

/** The turns of a program, each with its end, also those that ended before anybody listened. */
export class CliTurns implements Disposable {
  readonly #deps: TurnDeps
  readonly #sessionId: SessionId
  readonly #parentRunId: RunId
  readonly #turns: TurnEnd[] = []
  readonly #seen = new Set<number>()
  readonly #queued = new Set<string>()
  readonly #taken = Promise.withResolvers<void>()
  readonly #past: Promise<void>
  readonly #listening: Disposable
  #hasPrompt = false
  /** What is told while the past is read: taken before it, the end of a session would hide the answer before. */
  #early: Observed[] | undefined = []
  #wake = Promise.withResolvers<void>()

  constructor(
    deps: TurnDeps,
    { sessionId, parentRunId }: { readonly sessionId: SessionId; readonly parentRunId: RunId },
  ) {
    this.#deps = deps
    this.#sessionId = sessionId
    this.#parentRunId = parentRunId
    this.#listening = deps.waits.listen(sessionId, (event) => {
      if (this.#early) this.#early.push(event)
      else this.#take(event)
    })
    // What ended before it was listened for is in the journal; what ends meanwhile comes both ways.
    this.#past = this.#read()
    this.#past.catch(() => {})
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]()
  }

  /** Resolves when the program has taken its prompt. */
  get taken(): Promise<void> {
    return this.#taken.promise
  }

  /** Whether it has taken its prompt: it said so, or works. */
  get hasPrompt(): boolean {
    return this.#hasPrompt
  }

  /** Resolves when what was written before is known. */
  get known(): Promise<void> {
    return this.#past
  }

  async at(n: number): Promise<TurnEnd> {
    await this.#past
    while (this.#turns.length <= n) await this.#wake.promise
    return this.#turns[n] as TurnEnd
  }

  /** Whether a message was given to it before. */
  async wasSaid(messageId: string): Promise<boolean> {
    await this.#past
    return this.#queued.has(messageId)
  }

  async #read(): Promise<void> {
    for await (const event of this.#deps.events(this.#sessionId, turnFacts)) this.#take(event)
    const early = this.#early ?? []
    this.#early = undefined
    for (const event of early) this.#take(event)
  }

  #take(event: Observed): void {
    if (this.#seen.has(event.seq)) return
    this.#seen.add(event.seq)
    if (event.type === 'message.queued') this.#queued.add(event.payload.messageId)
    if (this.#isSignOfPrompt(event)) this.#prompted()
    const end = this.#endOf(event)
    if (!end) return
    // Who is killed in the middle of a turn ends it too; why it was killed is what counts.
    if (end.killed !== undefined && this.#turns.at(-1)?.isCancelled) this.#turns.pop()
    this.#turns.push(end)
    this.#wake.resolve()
    this.#wake = Promise.withResolvers()
  }

  /** What was held for lost has reached it after all. */
  #prompted(): void {
    this.#hasPrompt = true
    this.#taken.resolve()
    const lost = this.#turns.findIndex(({ undelivered, isOver }) => undelivered !== undefined && !isOver)
    if (lost >= 0) this.#turns.splice(lost, 1)
  }

  #isSignOfPrompt(event: Observed): boolean {
    if (event.type === 'message.accepted') return event.payload.messageId === `${this.#sessionId}:prompt`
    return event.type.startsWith('agent.')
  }

  #endOf(event: Observed): TurnEnd | undefined {
    if (event.type === 'message.failed') return this.#lost(event.payload)
    if (event.type === 'session.completed' || event.type === 'session.failed') return this.#over(event)
    // Agents that it started itself end turns of their own.
    if (!isTurnEnd(event) || !isTurn({ parentRunId: this.#parentRunId }, event)) return undefined
    return {
      isGood: event.type === 'agent.completed',
      said: event.payload.detail,
      isOver: false,
      isCancelled: event.type === 'agent.cancelled',
    }
  }

  #over(event: Extract<AgentEvent, { type: 'session.completed' | 'session.failed' }>): TurnEnd {
    const { message, reason } = event.payload
    const outcome = event.type === 'session.completed' ? event.payload.outcome : 'failed'
    const end = { isGood: outcome === 'completed', said: message ?? reason, isOver: true }
    if (outcome === 'killed') return { ...end, killed: reason ?? '' }
    // A program of the user's own shows nothing of what it takes.
    const isUnproved = this.#deps.session(this.#sessionId)?.managed?.cli === 'custom' || this.hasPrompt
    return isUnproved ? end : { ...end, isGood: false, undelivered: 'gone' }
  }

  /** A message that did not reach it; where its session ended with it, that is told by the end. */
  #lost(failed: Extract<AgentEvent, { type: 'message.failed' }>['payload']): TurnEnd | undefined {
    const state = this.#deps.session(this.#sessionId)
    if (!state || hasEnded(state)) return undefined
    const { messageId, errorType, reason } = failed
    if (messageId === `${this.#sessionId}:prompt`)
      return this.hasPrompt
        ? undefined
        : { isGood: false, said: reason, isOver: false, undelivered: errorType }
    // What it said before stands: nobody could tell it what is wrong with it.
    return messageId === repairOf(this.#sessionId)
      ? { isGood: true, said: undefined, isOver: false }
      : undefined
  }
}

const isTurnEnd = (
  event: AgentEvent,
): event is Extract<AgentEvent, { type: (typeof agentEndTypes)[number] }> =>
  agentEndTypes.some((type) => type === event.type)
