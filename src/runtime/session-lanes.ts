import { AppError } from '../contract/errors.ts'
import type { By } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import { type Asker, muster } from '../contract/principal.ts'
import { handoffLoop } from '../core/delegation/gate-call.ts'
import type { Queued } from '../core/messages/message-queue.ts'
import { hasEnded, type SessionState } from '../core/session/state.ts'
import { Conversation } from '../engine/delegation/conversation.ts'
import { askedBy, draftOf, sessionRoot } from '../engine/sessions/drafts.ts'
import { agentOf, closeCutOff, failLeft, interrupted, settle, tidyCutOff } from './interrupted-runs.ts'
import { Lane, type LaneHost, queueUpdate } from './lane.ts'
import { RunStopped } from './live-run.ts'
import { mainAgent } from './main-agent.ts'
import type { Questions } from './questions.ts'
import { stopRun } from './run-ends.ts'
import type { RuntimeParts } from './runtime-parts.ts'
import { runtimePlan } from './runtime-plan.ts'
import { WorkNotes } from './tools/runtime-tool.ts'

const previewChars = 2048

/** Words for a main agent of a session. */
type Words = {
  readonly text: string
  readonly from: string
  /** Who asked for it; the daemon itself when one agent tells another. */
  readonly by?: By
  readonly mode: Queued['mode']
  readonly to: string
}

/** The main agents of one session: a lane for each main agent that was spoken to, and who has control. */
export class SessionLanes {
  readonly #parts: RuntimeParts
  readonly #questions: Questions
  readonly #id: SessionId
  readonly #lanes = new Map<string, Lane>()
  /** The agents whose last run failed, and why. */
  readonly #failures = new Map<string, string>()
  #talk: Promise<Conversation> | undefined
  /** Who had control since a person last spoke. */
  #trail: string[] = []

  constructor({ parts, questions }: { parts: RuntimeParts; questions: Questions }, id: SessionId) {
    this.#parts = parts
    this.#questions = questions
    this.#id = id
  }

  lanes(): Lane[] {
    return [...this.#lanes.values()]
  }

  /** Queues words for a main agent of a session; it takes them up as soon as it may. */
  async say(
    state: Readonly<SessionState>,
    said: Omit<Words, 'to'> & { readonly to?: string | undefined },
  ): Promise<string> {
    const to = await mainAgent(
      this.#parts,
      said.to ?? state.managed?.agentType ?? '',
      state.managed?.workingDir ?? '/',
    )
    this.#trail = [to.name]
    return this.#queue({ ...said, to: to.name })
  }

  /** Takes a message back that nobody has taken up yet. */
  async dismiss(state: Readonly<SessionState>, messageId: string, by: Asker): Promise<void> {
    const waiting = state.queue?.find((one) => one.messageId === messageId && one.stage === 'queued')
    const root = sessionRoot(state, waiting?.to ?? by.name)
    if (!waiting || !root) throw new AppError('conflict', 'it is no longer waiting')
    await this.#parts.engine.perform([
      draftOf(askedBy({ ...root, spanId: waiting.spanId }, by), 'message.failed', {
        messageId,
        errorType: 'rejected',
        reason: `dismissed by ${by.name}`,
      }),
      queueUpdate(root, state, { gone: [messageId] }),
    ])
  }

  /** Takes up what was open when the daemon was last stopped. */
  async takeUp(state: Readonly<SessionState>): Promise<void> {
    const { engine, config } = this.#parts
    const isResumed = config().runtime.on_restart === 'resume'
    const left = [...state.open.values()].filter(({ kind, parentRunId }) => kind === 'agent' && !parentRunId)
    for (const span of left) {
      const { runId } = span
      await tidyCutOff(this.#parts, { ...state, runId, workspace: state.managed?.workingDir ?? '/' })
      await (isResumed ? closeCutOff : failLeft)(engine, state, span)
    }
    if (left.length > 0) await this.#callOffLeft()
    if (isResumed) for (const span of left) this.lane(agentOf(span)).resume(span)
    if (!isResumed || left.length === 0) await settle(engine, state)
    for (const { to } of state.queue ?? []) if (to) this.lane(to).poke()
  }

  lane(agent: string, isNew = false): Lane {
    const known = this.#lanes.get(agent)
    if (known) return known
    const notes = new WorkNotes()
    const lane = new Lane(
      {
        parts: this.#parts,
        notes,
        plan: (run, given) =>
          runtimePlan({
            ...given,
            parts: this.#parts,
            run,
            notes,
            depth: 0,
            scopes: [],
            questions: this.#questions,
            talk: () => this.#conversation(),
            tell: async (to, text) => void (await this.#queue({ to, text, from: agent, mode: 'important' })),
            handOver: (to) => this.#handOver(agent, to),
          }),
        changed: (run) => this.#changed(agent, run),
      },
      { sessionId: this.#id, agent, isNew },
    )
    this.#lanes.set(agent, lane)
    return lane
  }

  /** What its agents said to each other about work, and where their rounds of review stand. */
  #conversation(): Promise<Conversation> {
    const state = this.#parts.engine.session(this.#id)
    const root = state && sessionRoot(state, 'muster')
    if (!root) throw new AppError('conflict', 'that session has ended; start another with: sm chat')
    this.#talk ??= Conversation.open(this.#parts, { id: this.#id, root: () => root })
    // Who asks for it again after it could not be read tries to read it again.
    this.#talk.catch(() => (this.#talk = undefined))
    return this.#talk
  }

  /** Work that was under way when Muster was stopped is nobody's any more. */
  async #callOffLeft(): Promise<void> {
    const { engine } = this.#parts
    const state = engine.session(this.#id)
    const root = state && sessionRoot(state, 'muster')
    if (!root) return
    const talk = await this.#conversation()
    await talk.callOffNow(root, { reason: interrupted }, async (words) => {
      if (words.length > 0) await engine.perform(words)
    })
  }

  async #queue(said: Words): Promise<string> {
    const { engine, vault, ids, clock } = this.#parts
    const asker = { name: said.from, by: said.by ?? muster.by }
    const state = engine.session(this.#id)
    const root = state && sessionRoot(state, said.to)
    if (!state || !root) throw new AppError('conflict', 'that session has ended; start another with: sm chat')
    const messageId = `msg_${ids.event().slice(4)}`
    const preview = said.text.slice(0, previewChars)
    const added: Queued = {
      messageId,
      spanId: ids.span(),
      mode: said.mode,
      by: 'runtime',
      stage: 'queued',
      from: said.from,
      to: said.to,
      vault: await vault.put(new TextEncoder().encode(said.text), this.#id),
      preview,
      queuedAtMs: clock.now(),
    }
    const { spanId, mode, by, from, to, vault: kept } = added
    const at = { ...root, spanId, parentSpanId: root.spanId, actor: said.from }
    await engine.perform([
      draftOf(askedBy(at, asker), 'message.queued', {
        messageId,
        mode,
        by,
        preview,
        ...(kept && { vault: kept }),
        ...(from && { from }),
        ...(to && { to }),
      }),
      queueUpdate(root, state, { added }),
    ])
    const lane = this.lane(said.to)
    if (said.mode === 'urgent' && lane.run)
      await stopRun(this.#parts, lane.run, new RunStopped('cancelled', asker, 'something urgent came'))
    lane.poke()
    return messageId
  }

  /** A session works while one of its agents does; at rest it has failed when the last run of one of them has. */
  async #changed(agent: string, run: Parameters<LaneHost['changed']>[0]): Promise<void> {
    if (typeof run === 'object') this.#failures.set(agent, run.failure)
    else this.#failures.delete(agent)
    const { engine } = this.#parts
    const state = engine.session(this.#id)
    const root = state && !hasEnded(state) && sessionRoot(state, state.managed?.agentType ?? 'agent')
    if (!state || !root) return
    const isAtWork = this.lanes().some(({ run }) => run !== undefined)
    const [failure] = this.#failures.values()
    const to = isAtWork ? 'running' : failure === undefined ? 'idle' : 'failed'
    if (state.lifecycle === to || (run === 'begun' && !isAtWork)) return
    await engine.perform([
      draftOf(root, 'session.state.changed', {
        from: state.lifecycle,
        to,
        ...(to === 'failed' && { detail: failure?.replaceAll(/\s+/g, ' ').slice(0, 500) }),
      }),
    ])
  }

  async #handOver(from: string, to: string): Promise<readonly string[] | undefined> {
    if (this.#trail.at(-1) !== from) this.#trail.push(from)
    const circle = handoffLoop(this.#trail, to)
    if (circle) return circle
    this.#trail.push(to)
    const { engine } = this.#parts
    const state = engine.session(this.#id)
    const root = state && sessionRoot(state, from)
    if (root) await engine.perform([draftOf(root, 'session.updated', { agentType: to, by: from })])
    return undefined
  }
}
