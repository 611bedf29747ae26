import type { AgentCliName } from '../../contract/config/names.ts'
import type { Draft } from '../../contract/event.ts'
import type { Signal, SignalOf, SignalSource } from '../../contract/signal.ts'
import type { Lifecycle } from '../../contract/values.ts'
import { tokenTotal } from '../../core/ledger/model-usage.ts'
import { isSameText } from '../../core/messages/message-text.ts'
import { failureOf } from '../../core/session/evidence/explain.ts'
import type { Verdict } from '../../core/session/evidence/verdict.ts'
import type { SessionState } from '../../core/session/state.ts'
import { draftOf, type Root } from './drafts.ts'
import type { Parts } from './session-parts.ts'

const keptCalls = 200

/** The calls of the present turn, as hooks and the record told of them. */
export class TurnCalls {
  readonly #running = new Map<string, SignalOf<'tool-start'>>()
  readonly #ended = new Map<string, SignalOf<'tool-end'>>()

  notice(signal: Signal): void {
    if (signal.kind === 'tool-start') keep(this.#running, signal)
    if (signal.kind === 'tool-end') this.#running.delete(signal.callId)
    if (signal.kind === 'tool-end' && signal.agent === undefined && signal.source === 'hook')
      keep(this.#ended, signal)
  }

  /** Another turn begins. Not every prompt that is told begins one: the record tells of the same prompt later than a hook. */
  begin(): void {
    this.end()
    this.#ended.clear()
  }

  /** The turn is over: what runs on belongs to subagents. */
  end(): void {
    for (const { callId } of this.#own()) this.#running.delete(callId)
  }

  /** Those that have begun and not ended, of its subagents too. */
  running(): readonly SignalOf<'tool-start'>[] {
    return [...this.#running.values()]
  }

  /** The record is written later than hooks tell, and is what counts: what it does not have yet. */
  unwritten(): readonly SignalOf<'tool-start'>[] {
    return this.#own().filter(({ source }) => source === 'hook')
  }

  /** How a call ended by the word of a hook: at the end of a turn or a session the record may not have that yet. */
  endOf(callId: string): SignalOf<'tool-end'> | undefined {
    return this.#ended.get(callId)
  }

  #own(): readonly SignalOf<'tool-start'>[] {
    return this.running().filter(({ agent }) => agent === undefined)
  }
}

function keep<S extends { readonly callId: string }>(calls: Map<string, S>, signal: S): void {
  calls.set(signal.callId, signal)
  const oldest = calls.size > keptCalls ? calls.keys().next().value : undefined
  if (oldest !== undefined) calls.delete(oldest)
}

/** How long a turn takes and what its answers use, as the record of the CLI tells it; one told again counts once. */
export class TurnUse {
  #sinceMs: number | undefined
  readonly #tokens = new Map<string, number>()

  constructor(sinceMs: number | undefined) {
    this.#sinceMs = sinceMs
  }

  begin(atMs: number): void {
    this.#sinceMs = atMs
    this.#tokens.clear()
  }

  /** A record is read again from its beginning after a restart: what is older belongs to other turns. */
  note(signal: Signal): void {
    if (signal.kind === 'usage' && this.#sinceMs !== undefined && signal.at >= this.#sinceMs)
      this.#tokens.set(signal.responseId, tokenTotal(signal.usage))
  }

  /** What is known of it at its end; nothing stands where nothing was told. */
  until(atMs: number): { readonly tokens?: number; readonly durationMs?: number } {
    const tokens = [...this.#tokens.values()]
    return {
      ...(tokens.length > 0 && { tokens: tokens.reduce((sum, each) => sum + each) }),
      ...(this.#sinceMs !== undefined && { durationMs: Math.max(0, atMs - this.#sinceMs) }),
    }
  }
}

/** A receipt is looked for among so many of the last texts. */
const keptTexts = 32

/** A text that the CLI took: as a prompt, into its own queue, or from a hook. */
type TakenText = { readonly at: number; readonly text: string; readonly source: SignalSource }

/** What a CLI says that it took: the receipts of what was given to it. */
export class TakenTexts {
  #last: readonly TakenText[] = []
  #prompt: TakenText | undefined
  #hasRecord = false

  /** Oldest first. */
  get list(): readonly TakenText[] {
    return this.#last
  }

  /** The prompt that the CLI works on or worked on last. */
  get prompt(): TakenText | undefined {
    return this.#prompt
  }

  /** Whether anything of its record was read since it is followed. */
  get hasRecord(): boolean {
    return this.#hasRecord
  }

  note(signal: Signal): void {
    if (signal.source === 'transcript') this.#hasRecord = true
    if (signal.agent !== undefined || !isText(signal) || signal.text === undefined) return
    const taken = { at: signal.at, text: signal.text, source: signal.source }
    this.#last = [...this.#last, taken].slice(-keptTexts)
    if (signal.kind === 'prompt' && taken.at >= (this.#prompt?.at ?? 0)) this.#prompt = taken
  }
}

const isText = (signal: Signal): signal is SignalOf<'prompt' | 'prompt-queued' | 'injected'> =>
  signal.kind === 'prompt' || signal.kind === 'prompt-queued' || signal.kind === 'injected'

/** What an agent said last, as its record has it; one message may stand there in several pieces. */
export class LastWords {
  #messageId: string | undefined
  #text = ''

  get text(): string {
    return this.#text
  }

  note(signal: Signal): void {
    if (signal.kind !== 'text' || signal.source !== 'transcript' || signal.agent !== undefined) return
    const isSame = signal.messageId !== undefined && signal.messageId === this.#messageId
    this.#text = isSame ? `${this.#text}\n${signal.text}` : signal.text
    this.#messageId = signal.messageId
  }
}

type Change = {
  readonly from: Lifecycle
  readonly to: Lifecycle
  readonly verdict: Verdict
  readonly agentId: string
}

/** What is written when a session is found in another state. */
export function changedState(root: Root, { from, to, verdict, agentId }: Change): Draft[] {
  // Noticed later than it happened, also by hours when no daemon was there to see it.
  const isRest = from !== to && (to === 'idle' || to === 'failed')
  const at = isRest && verdict.since !== undefined ? new Date(verdict.since).toISOString() : undefined
  const changed = draftOf({ ...root, ...(at && { timestamp: at }) }, 'session.state.changed', {
    from,
    to,
    activity: verdict.activity,
    evidence: verdict.because.slice(0, 3).map(({ signal, ageMs }) => ({
      signal,
      ageMs: Math.max(0, Math.round(ageMs)),
      confidence: verdict.confidence,
    })),
    ...detailOf(verdict),
  })
  if (to !== 'waiting_input' || from === 'waiting_input') return [changed]
  const waitsFor = verdict.waitingFor === 'permission' ? 'permission' : 'input'
  return [changed, draftOf(root, 'agent.waiting', { agentId, waitsFor })]
}

/** What of how a session fares is told: that it is only not sure, or that its program is gone, is told in other ways. */
const toldHealth: ReadonlySet<Verdict['health']> = new Set(['ok', 'stuck', 'retrying', 'limited'])

/** What is written when it begins or ceases to go wrong with a session, and by which sign that is known. */
export function changedHealth(root: Root, { health: from = 'ok' }: SessionState, verdict: Verdict): Draft[] {
  const { health: to, because, waitingUntil } = verdict
  if (to === from || !toldHealth.has(to)) return []
  const [sign] = because
  const until = waitingUntil === undefined ? '' : `, until ${new Date(waitingUntil).toISOString()}`
  return [
    draftOf(root, 'signal.changed', {
      signal: 'health',
      from,
      to,
      // Nothing was seen that could have been: only the time has passed.
      source: to === 'stuck' || !sign ? 'clock' : sign.source,
      ...(sign && { detail: `${sign.says}${until}`.slice(0, 1000) }),
    }),
  ]
}

function detailOf(verdict: Verdict): { detail?: string } {
  if (verdict.lifecycle === 'failed') return { detail: failureOf(verdict) }
  return verdict.waitingFor ? { detail: `waits for ${verdict.waitingFor}` } : {}
}

/** A prompt that the program was started with: that the CLI took it is its receipt. Others are typed, and get theirs there. */
export function launchReceipt({ engine, clis }: Parts, root: Root, signal: Signal): Draft[] {
  if ((signal.kind !== 'prompt' && signal.kind !== 'prompt-queued') || signal.agent !== undefined) return []
  const taken = signal.text
  const { queue = [], managed } = engine.session(root.sessionId) ?? {}
  if (managed?.isPromptTyped) return []
  const { harmless } = clis[(managed?.cli ?? 'custom') as AgentCliName].dialect
  const found = queue.find(
    ({ by, preview }) => by === 'launch' && (taken === undefined || isSameText(taken, harmless(preview))),
  )
  if (!found) return []
  const proof = signal.source === 'hook' ? 'hook' : 'transcript'
  const { messageId, spanId } = found
  return [draftOf({ ...root, spanId, parentSpanId: root.spanId }, 'message.accepted', { messageId, proof })]
}
