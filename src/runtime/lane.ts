import type { AgentDefinition } from '../contract/agent-definition.ts'
import type { SessionId } from '../contract/ids.ts'
import { findAgent } from '../core/agent-definitions/find-agent.ts'
import type { Queued } from '../core/messages/queue.ts'
import { hasEnded, type OpenSpan, type SessionState } from '../core/session/state.ts'
import { draftOf } from '../engine/sessions/drafts.ts'
import type { ModelMessage } from '../ports/model.ts'
import { answered, loadHistory } from './history.ts'
import { LiveRun } from './live-run.ts'
import type { RuntimeParts } from './parts.ts'
import { performRun, type RunPlan } from './perform-run.ts'
import { acceptedOf, nextOf, queueUpdate } from './queue-facts.ts'
import type { Recorder } from './recorder.ts'
import { sessionRoot } from './session-root.ts'

const cutOff =
  'It was cut off when Muster stopped; whether it took effect is not known. Look before you do it again.'

/** What a lane gets from the session that it is in. */
export type LaneHost = {
  readonly parts: RuntimeParts
  /** What of a plan depends on who may be asked and told. */
  readonly plan: (
    run: LiveRun,
    given: { readonly workspace: string; readonly agents: readonly AgentDefinition[] },
  ) => Pick<RunPlan, 'tools' | 'refusal'>
  /** A run of the lane begins or has ended. */
  readonly changed: (isBegin: boolean) => Promise<void>
}

/** One main agent of a session: its conversation, what waits for it, and the run that is under way. */
export class Lane {
  readonly sessionId: SessionId
  readonly agent: string
  readonly #host: LaneHost
  #history: ModelMessage[] | undefined
  #run: LiveRun | undefined
  #work: Promise<void> | undefined
  #isClosed = false

  constructor(host: LaneHost, which: { sessionId: SessionId; agent: string; isNew: boolean }) {
    this.#host = host
    this.sessionId = which.sessionId
    this.agent = which.agent
    if (which.isNew) this.#history = []
  }

  get run(): LiveRun | undefined {
    return this.#run
  }

  /** Starts on what waits, unless it is at work. */
  poke(): void {
    if (this.#work || this.#isClosed || !this.#next()) return
    this.#work = this.#takeAll()
      .catch((error: unknown) => this.#host.parts.onBug(error, `agent ${this.agent}`))
      .finally(() => {
        this.#work = undefined
        this.poke()
      })
  }

  /** Goes on with a run that a stopped daemon left. */
  resume(span: OpenSpan): void {
    this.#work = this.#resume(span)
      .catch((error: unknown) => this.#host.parts.onBug(error, `agent ${this.agent}`))
      .finally(() => {
        this.#work = undefined
        this.poke()
      })
  }

  /** Nothing is begun any more; what waits goes on waiting. */
  close(): void {
    this.#isClosed = true
  }

  async settled(): Promise<void> {
    await this.#work
  }

  #state(): Readonly<SessionState> | undefined {
    const state = this.#host.parts.engine.session(this.sessionId)
    return state && !hasEnded(state) ? state : undefined
  }

  #next(): Queued | undefined {
    return nextOf(this.#state(), this.agent)
  }

  async #takeAll(): Promise<void> {
    for (let next = this.#next(); next && !this.#isClosed; next = this.#next()) await this.#take(next)
  }

  async #take(message: Queued): Promise<void> {
    const { parts } = this.#host
    const state = this.#state()
    const root = state && sessionRoot(state, this.agent)
    if (!state || !root) return
    const bytes = message.vault === undefined ? undefined : await parts.vault.get(message.vault)
    const at = { ...root, spanId: message.spanId }
    const { messageId } = message
    if (!bytes) {
      const reason = 'its text is no longer in the vault; send it again'
      await parts.engine.perform([draftOf(at, 'message.failed', { messageId, errorType: 'gone', reason })])
      return
    }
    const text = new TextDecoder().decode(bytes)
    this.#history ??= answered(await loadHistory(parts, this.sessionId, this.agent), cutOff)
    const workspace = state.managed?.workingDir ?? '/'
    const found = await this.#definition(workspace)
    if ('error' in found) {
      const reason = found.error
      await parts.engine.perform([
        draftOf(at, 'message.failed', { messageId, errorType: 'rejected', reason }),
      ])
      return
    }
    const kept = this.#history.length
    this.#history.push({ role: 'user', text })
    const run = new LiveRun({
      root: { ...root, runId: parts.ids.run(), spanId: parts.ids.span(), actor: this.agent },
      parentSpanId: root.spanId,
      agent: found.agent,
      startedMs: parts.clock.now(),
    })
    await this.#perform(state, {
      ...found,
      task: text,
      kept,
      run,
      begins: [...acceptedOf(run.root, [message]), queueUpdate(root, state, { gone: [messageId] })],
    })
  }

  async #resume(span: OpenSpan): Promise<void> {
    const { parts } = this.#host
    const state = this.#state()
    const root = state && sessionRoot(state, this.agent)
    if (!state || !root) return
    const found = await this.#definition(state.managed?.workingDir ?? '/')
    const at = { ...root, runId: span.runId, spanId: span.spanId, actor: this.agent }
    if ('error' in found) {
      const failed = { agentId: this.agent, reason: found.error.slice(0, 1000) }
      await parts.engine.perform([draftOf(at, 'agent.failed', failed)])
      return
    }
    this.#history = answered(await loadHistory(parts, this.sessionId, this.agent), cutOff)
    await this.#perform(state, {
      ...found,
      task: '',
      kept: this.#history.length,
      run: new LiveRun({
        root: at,
        parentSpanId: span.parentSpanId ?? root.spanId,
        agent: found.agent,
        startedMs: parts.clock.now(),
      }),
      begins: 'resumed',
    })
  }

  async #perform(
    state: Readonly<SessionState>,
    given: Pick<RunPlan, 'run' | 'begins' | 'task' | 'kept'> & {
      readonly agents: readonly AgentDefinition[]
    },
  ): Promise<void> {
    const { parts } = this.#host
    const { run, agents } = given
    const workspace = state.managed?.workingDir ?? '/'
    const messages = this.#history ?? []
    this.#run = run
    await this.#host.changed(true)
    try {
      const outcome = await performRun(parts, {
        ...given,
        depth: 0,
        mode: state.managed?.loop ?? parts.config().runtime.mode,
        model: state.managed?.model,
        scopes: [],
        workspace,
        messages,
        takeMessages: (recorder) => this.#injected(recorder),
        ...this.#host.plan(run, { workspace, agents }),
      })
      this.#history = messages.filter(({ role }) => role !== 'system')
      // A call that was cut off has no answer, and no provider takes a conversation with such a hole.
      if (outcome.status !== 'completed')
        this.#history = answered({ messages: this.#history, answers: [] }, 'It was cut off.')
    } finally {
      this.#run = undefined
      await this.#host.changed(false)
    }
  }

  /** What was said to the agent meanwhile and is not to wait for its end. */
  async #injected(recorder: Recorder): Promise<readonly string[]> {
    const { parts } = this.#host
    const state = this.#state()
    const root = state && sessionRoot(state, this.agent)
    const waiting = (state?.queue ?? []).filter(
      ({ to, mode, stage }) => to === this.agent && mode !== 'sequential' && stage === 'queued',
    )
    if (!state || !root || waiting.length === 0) return []
    await recorder.durable()
    const texts: string[] = []
    const taken: Queued[] = []
    for (const message of waiting) {
      const bytes = message.vault === undefined ? undefined : await parts.vault.get(message.vault)
      if (!bytes) continue
      texts.push(new TextDecoder().decode(bytes))
      taken.push(message)
    }
    const gone = taken.map(({ messageId }) => messageId)
    await parts.engine.perform([
      ...acceptedOf(this.#run?.root ?? root, taken),
      queueUpdate(root, state, { gone }),
    ])
    return texts
  }

  async #definition(
    workspace: string,
  ): Promise<{ agent: AgentDefinition; agents: readonly AgentDefinition[] } | { error: string }> {
    try {
      const agents = await this.#host.parts.agents(workspace, new AbortController().signal)
      return { agents, agent: findAgent(agents, this.agent) }
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) }
    }
  }
}
