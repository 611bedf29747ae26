import type { AgentDefinition } from '../contract/agent-definition.ts'
import type { Draft } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import { findAgent } from '../core/definitions/find-definition.ts'
import type { Queued } from '../core/messages/message-queue.ts'
import { hasEnded, type OpenSpan, type SessionState } from '../core/session/state.ts'
import { draftOf, type Root, sessionRoot } from '../engine/sessions/drafts.ts'
import { type History, loadHistory } from './history.ts'
import { soFar } from './interrupted-runs.ts'
import { LiveRun } from './live-run.ts'
import { performRun, type RunPlan } from './perform-run.ts'
import type { Recorder } from './recorder.ts'
import type { RuntimeParts } from './runtime-parts.ts'
import type { WorkNotes } from './tools/runtime-tool.ts'

/** So long it is waited after a bug or a full disk before what waits is tried again. */
const againMs = 1000

/** What a lane gets from the session that it is in. */
export type LaneHost = {
  readonly parts: RuntimeParts
  readonly notes: WorkNotes
  /** What of a plan depends on who may be asked and told. */
  readonly plan: (
    run: LiveRun,
    given: { readonly workspace: string; readonly agents: readonly AgentDefinition[] },
  ) => Pick<RunPlan, 'tools' | 'refusal'>
  /** A run of the lane begins or has ended; how it failed when it did. */
  readonly changed: (run: 'begun' | 'over' | { readonly failure: string }) => Promise<void>
}

/** One main agent of a session: its conversation, what waits for it, and the run that is under way. */
export class Lane {
  readonly sessionId: SessionId
  readonly agent: string
  readonly #host: LaneHost
  #history: Pick<History, 'messages' | 'kept'> | undefined
  #run: LiveRun | undefined
  #work: Promise<void> | undefined
  readonly #closing = new AbortController()

  constructor(host: LaneHost, which: { sessionId: SessionId; agent: string; isNew: boolean }) {
    this.#host = host
    this.sessionId = which.sessionId
    this.agent = which.agent
    if (which.isNew) this.#history = { messages: [], kept: 0 }
  }

  get run(): LiveRun | undefined {
    return this.#run
  }

  /** Starts on what waits, unless it is at work. */
  poke(): void {
    if (!this.#work && !this.#closing.signal.aborted && this.#next()) this.#start(this.#takeAll())
  }

  /** Goes on with a run that a stopped daemon left. */
  resume(span: OpenSpan): void {
    this.#start(this.#resume(span))
  }

  /** Goes on from a conversation that was held elsewhere; resolves with its end. */
  async goOnFrom(given: Pick<RunPlan, 'messages' | 'task' | 'wrap'>): Promise<void> {
    this.#start(this.#goOnFrom(given))
    await this.#work
  }

  /** Nothing is begun any more; what waits goes on waiting. */
  close(): void {
    this.#closing.abort()
  }

  async settled(): Promise<void> {
    await this.#work
  }

  #start(work: Promise<void>): void {
    const { onBug, clock } = this.#host.parts
    this.#work = work
      .catch(async (error: unknown) => {
        onBug(error, `agent ${this.agent}`)
        await clock.sleep(againMs, this.#closing.signal).catch(() => {})
      })
      .finally(() => {
        this.#work = undefined
        this.poke()
      })
  }

  #state(): Readonly<SessionState> | undefined {
    const state = this.#host.parts.engine.session(this.sessionId)
    return state && !hasEnded(state) ? state : undefined
  }

  #next(): Queued | undefined {
    return nextOf(this.#state(), this.agent)
  }

  async #takeAll(): Promise<void> {
    for (let next = this.#next(); next && !this.#closing.signal.aborted; next = this.#next())
      await this.#take(next)
  }

  async #take(message: Queued): Promise<void> {
    const { parts } = this.#host
    const state = this.#state()
    const root = state && sessionRoot(state, this.agent)
    if (!state || !root) return
    const text = await this.#textOf(message)
    if (text === undefined)
      return this.#refuse(message, 'gone', 'its text is no longer in the vault; send it again')
    const found = await this.#definition(state.managed?.workingDir ?? '/')
    if ('error' in found) return this.#refuse(message, 'rejected', found.error)
    const history = this.#history ?? (await this.#load())
    if (this.#closing.signal.aborted) return
    const run = new LiveRun({
      root: { ...root, runId: parts.ids.run(), spanId: parts.ids.span(), actor: this.agent },
      parentSpanId: root.spanId,
      agent: found.agent,
      startedMs: parts.clock.now(),
    })
    await this.#perform(state, {
      ...found,
      run,
      task: text,
      messages: [...history.messages, { role: 'user', text }],
      kept: history.kept,
      begins: [...acceptedOf(run.root, [message]), queueUpdate(root, state, { gone: [message.messageId] })],
    })
  }

  async #goOnFrom(given: Pick<RunPlan, 'messages' | 'task' | 'wrap'>): Promise<void> {
    const { parts } = this.#host
    const state = this.#state()
    const root = state && sessionRoot(state, this.agent)
    const found = state && (await this.#definition(state.managed?.workingDir ?? '/'))
    if (!state || !root || !found || 'error' in found) return
    const run = new LiveRun({
      root: { ...root, runId: parts.ids.run(), spanId: parts.ids.span(), actor: this.agent },
      parentSpanId: root.spanId,
      agent: found.agent,
      startedMs: parts.clock.now(),
    })
    await this.#perform(state, { ...found, ...given, run, kept: 0, begins: [] })
  }

  async #resume(span: OpenSpan): Promise<void> {
    const { parts } = this.#host
    const state = this.#state()
    const root = state && sessionRoot(state, this.agent)
    if (!state || !root) return
    const { runId, spanId, parentSpanId = root.spanId } = span
    const at = { ...root, runId, spanId, actor: this.agent }
    const found = await this.#definition(state.managed?.workingDir ?? '/')
    const history = await this.#load()
    const gone = history.lost.has(runId)
      ? 'it cannot continue: the conversation is no longer in the vault; send your message again'
      : undefined
    if ('error' in found || gone !== undefined) {
      const reason = 'error' in found ? found.error : gone
      await parts.engine.perform([
        draftOf(at, 'agent.failed', { agentId: this.agent, reason: reason?.slice(0, 1000) }),
      ])
      return this.#host.changed({ failure: reason ?? 'it cannot continue' })
    }
    const { startedMs, turns, calls, seenBefore } = await soFar(parts, this.sessionId, runId)
    if (this.#closing.signal.aborted) return
    const run = new LiveRun({ root: at, parentSpanId, agent: found.agent, startedMs, seenBefore })
    for (const call of calls) run.used(call)
    const { messages, kept } = history
    await this.#perform(state, { ...found, run, task: '', messages, kept, turns, begins: 'resumed' })
  }

  async #perform(
    state: Readonly<SessionState>,
    given: Pick<RunPlan, 'run' | 'begins' | 'task' | 'messages' | 'kept' | 'turns' | 'agents' | 'wrap'>,
  ): Promise<void> {
    const { parts } = this.#host
    const { run, agents, messages } = given
    const workspace = state.managed?.workingDir ?? '/'
    this.#history = undefined
    this.#run = run
    await this.#host.changed('begun')
    let ended: Parameters<LaneHost['changed']>[0] = 'over'
    try {
      const outcome = await performRun(parts, {
        ...given,
        depth: 0,
        mode: state.managed?.loop ?? parts.config().runtime.mode,
        model: state.managed?.model,
        scopes: [],
        workspace,
        takeMessages: (recorder) => this.#injected(recorder),
        ...this.#host.plan(run, { workspace, agents }),
      })
      if (outcome.status === 'failed') ended = { failure: outcome.reason }
      // What a run that was cut off leaves is read again from what is kept: its calls may have no answers.
      if (outcome.status !== 'completed') return
      const said = messages.filter(({ role }) => role !== 'system')
      const kept = said.findLastIndex(({ role }) => role === 'assistant') + 1
      this.#history = { messages: said, kept }
    } finally {
      this.#run = undefined
      await this.#host.changed(ended)
    }
  }

  async #load(): Promise<History> {
    const { parts, notes } = this.#host
    const history = await loadHistory(parts, this)
    notes.isPlanning = history.isPlanning
    return history
  }

  async #textOf({ vault: name }: Queued): Promise<string | undefined> {
    // An entry that cannot be opened is as good as none; nobody would ever get past it.
    const bytes =
      name === undefined ? undefined : await this.#host.parts.vault.get(name).catch(() => undefined)
    return bytes && new TextDecoder().decode(bytes)
  }

  /** A message that cannot be taken up does not wait any longer. */
  async #refuse(message: Queued, errorType: 'gone' | 'rejected', reason: string): Promise<void> {
    const state = this.#state()
    const root = state && sessionRoot(state, this.agent)
    if (!state || !root) return
    const { messageId, spanId } = message
    await this.#host.parts.engine.perform([
      draftOf({ ...root, spanId }, 'message.failed', { messageId, errorType, reason: reason.slice(0, 1000) }),
      queueUpdate(root, state, { gone: [messageId] }),
    ])
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
      const text = await this.#textOf(message)
      if (text === undefined) continue
      texts.push(text)
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

const previewChars = 400

/** What an agent takes up next: what interrupts, what is important, then in order. */
function nextOf(state: Readonly<SessionState> | undefined, agent: string): Queued | undefined {
  const waiting = (state?.queue ?? []).filter(({ to, stage }) => to === agent && stage === 'queued')
  for (const mode of ['urgent', 'important'] as const) {
    const found = waiting.find((one) => one.mode === mode)
    if (found) return found
  }
  return waiting[0]
}

/** The receipts of messages that an agent has taken, as part of the run that took them. */
const acceptedOf = (root: Root, messages: readonly Queued[]): Draft[] =>
  messages.map(({ messageId, spanId }) =>
    draftOf({ ...root, spanId }, 'message.accepted', { messageId, proof: 'runtime' }),
  )

/** What waits for an agent once some of it is gone, or one more has come. */
export function queueUpdate(
  root: Root,
  state: Readonly<SessionState>,
  { gone = [], added }: { readonly gone?: readonly string[]; readonly added?: Queued },
): Draft {
  const agentId = root.actor
  const waiting = [...(state.queue ?? []), ...(added ? [added] : [])].filter(
    ({ to, messageId }) => to === agentId && !gone.includes(messageId),
  )
  return draftOf(root, 'queue.updated', {
    agentId,
    ...(state.managed && { projectRoot: state.managed.workingDir }),
    items: waiting.map(({ messageId, preview, queuedAtMs }) => ({
      id: messageId,
      agentId,
      preview: preview.slice(0, previewChars),
      timestamp: new Date(queuedAtMs).toISOString(),
    })),
  })
}
