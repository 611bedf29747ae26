import type { Decision } from '../contract/decision.ts'
import { AppError } from '../contract/errors.ts'
import { type RunId, type SessionId, shortId } from '../contract/ids.ts'
import type { Budget, LoopMode } from '../contract/values.ts'
import type { OpenApproval } from '../core/approvals/open-approvals.ts'
import { handoffLoop } from '../core/delegation/gate-call.ts'
import type { Queued } from '../core/messages/message-queue.ts'
import { hasEnded, type SessionState, spanKey } from '../core/session/state.ts'
import { draftOf, type Root, sessionRoot } from '../engine/sessions/drafts.ts'
import { beginWithin } from '../engine/sessions/spawn.ts'
import { agentOf, closeCutOff, failLeft, settle, stopped, tidyCutOff } from './interrupted-runs.ts'
import { Lane, queueUpdate } from './lane.ts'
import { type LiveRun, RunStopped } from './live-run.ts'
import { mainAgent } from './main-agent.ts'
import { ownPlan } from './own-plan.ts'
import type { RuntimeParts } from './parts.ts'
import { Questions } from './questions.ts'
import { type BranchWish, branchOff } from './replay/branch.ts'
import type { RecordRef } from './replay/load-record.ts'
import { type Replay, replay } from './replay/replay.ts'
import { endsOf } from './run-ends.ts'
import { WorkNotes } from './tools/own-tool.ts'
import { Works } from './works.ts'

const previewChars = 2048
/** So long a cancelled run may take to end by itself; then its end is written for it, within a second in all. */
const graceMs = 700

/** A session with an agent of Muster's own, as it is asked for. */
export type OwnSessionRequest = {
  readonly agent: string
  readonly workspace: string
  readonly by: string
  readonly parent?: Readonly<SessionState> | undefined
  readonly name?: string | undefined
  readonly loop?: LoopMode | undefined
  readonly model?: string | undefined
  readonly budget?: Budget | undefined
  readonly replayOf?: { readonly runId: RunId; readonly step: number } | undefined
}

type OwnSession = {
  readonly lanes: Map<string, Lane>
  /** Who had control since a person last spoke. */
  trail: string[]
}

/** Runs Muster's own agents: their sessions, what waits for them, and the runs that are under way. */
export class Runtime {
  readonly questions: Questions
  /** Agents at the work of workflows. */
  readonly works: Works
  readonly #parts: RuntimeParts
  readonly #sessions = new Map<SessionId, OwnSession>()

  constructor(parts: RuntimeParts) {
    this.#parts = parts
    this.questions = new Questions(parts)
    this.works = new Works(parts, this.questions)
  }

  /** Takes up what was open when the daemon was last stopped: runs go on or have failed, and what waits is begun. */
  async start(): Promise<void> {
    const { engine, onBug } = this.#parts
    for (const state of Array.from(engine.sessions()))
      if (state.managed?.origin === 'runtime')
        await this.#takeUp(state).catch((error: unknown) => onBug(error, `taking up ${state.sessionId}`))
  }

  /** Stops for the daemon: a run that shall go on later is left open, any other has failed. */
  async stop(): Promise<void> {
    const { engine, config, clock } = this.#parts
    const lanes = this.#all()
    const left = lanes.flatMap(({ run }) => run ?? [])
    for (const lane of lanes) {
      lane.close()
      lane.run?.stop(new RunStopped('daemon', 'muster', stopped))
    }
    const waiting = new AbortController()
    await Promise.race([
      Promise.all(lanes.map((lane) => lane.settled())),
      clock.sleep(graceMs, waiting.signal).catch(() => {}),
    ])
    // A timer that is left would hold up the end of the daemon.
    waiting.abort()
    if (config().runtime.on_restart === 'resume') return
    for (const { root } of left) {
      const state = engine.session(root.sessionId)
      const span = state?.open.get(spanKey(state, root))
      if (state && span) await failLeft(engine, state, span)
    }
  }

  /** Begins a session; nothing runs in it before somebody says something. */
  async open(request: OwnSessionRequest): Promise<SessionId> {
    const { engine, ids } = this.#parts
    const { parent, workspace, by } = request
    const agent = await mainAgent(this.#parts, request.agent, workspace)
    const sessionId = ids.session()
    const root: Root = {
      sessionId,
      traceId: parent?.traceId ?? ids.trace(),
      runId: ids.run(),
      spanId: ids.span(),
      actor: by,
    }
    const drafts = [
      draftOf(root, 'session.started', {
        name: `${agent.name}-${shortId(sessionId)}`,
        origin: 'runtime',
        cli: 'own',
        workingDir: workspace,
        depth: parent ? parent.depth + 1 : 0,
        agent: { agentId: agent.name, agentType: agent.name },
        tools: [...agent.tools],
        ...(request.name && { friendlyName: request.name }),
        ...(request.loop && { loop: request.loop }),
        ...(request.model && { model: request.model }),
        ...(request.budget && { budget: request.budget }),
        ...(parent && { parentSessionId: parent.sessionId }),
        ...(request.replayOf && { replayOf: request.replayOf }),
      }),
      draftOf(root, 'session.state.changed', { from: 'running', to: 'idle' }),
    ]
    await beginWithin(engine, drafts, { actor: by, parent, limits: this.#parts.config().limits })
    this.#lane(sessionId, agent.name, true)
    return sessionId
  }

  /** Queues words for a main agent of a session; it takes them up as soon as it may. */
  async say(
    state: Readonly<SessionState>,
    said: {
      readonly text: string
      readonly from: string
      readonly mode: Queued['mode']
      readonly to?: string | undefined
    },
  ): Promise<string> {
    const { sessionId } = state
    const own = this.#own(sessionId)
    const to = await mainAgent(
      this.#parts,
      said.to ?? state.managed?.agentType ?? '',
      state.managed?.workingDir ?? '/',
    )
    own.trail = [to.name]
    return this.#queue(sessionId, { ...said, to: to.name })
  }

  /** Takes a message back that nobody has taken up yet. */
  async dismiss(state: Readonly<SessionState>, messageId: string, by: string): Promise<void> {
    const waiting = state.queue?.find((one) => one.messageId === messageId && one.stage === 'queued')
    const root = sessionRoot(state, waiting?.to ?? by)
    if (!waiting || !root) throw new AppError('conflict', 'it is not waiting any more')
    await this.#parts.engine.perform([
      draftOf({ ...root, spanId: waiting.spanId }, 'message.failed', {
        messageId,
        errorType: 'rejected',
        reason: `dismissed by ${by}`,
      }),
      queueUpdate(root, state, { gone: [messageId] }),
    ])
  }

  /** Every run that is under way. */
  runs(): LiveRun[] {
    const top = [...this.#all().flatMap(({ run }) => run ?? []), ...this.works.runs()]
    return top.flatMap((run) => run.tree())
  }

  /** Ends a run and all that works for it; answers which those were. What waits for the agent is taken up after it. */
  async cancel(runId: RunId, by: string, reason = 'cancelled by user'): Promise<readonly RunId[]> {
    const run = this.runs().find((one) => one.runId === runId)
    if (!run) return []
    const ended = run.tree()
    await this.#stop(run, new RunStopped('cancelled', by, reason))
    return ended.map((one) => one.runId)
  }

  /** Ends what all agents of a session do. */
  async interrupt(sessionId: SessionId, by: string): Promise<void> {
    for (const { run } of this.#own(sessionId).lanes.values()) if (run) await this.cancel(run.runId, by)
  }

  /** Ends a session: its runs first, then itself. */
  async end(
    state: Readonly<SessionState>,
    end: {
      readonly outcome: 'completed' | 'killed' | 'cancelled' | 'abandoned'
      readonly by: string
      readonly message?: string | undefined
      readonly reason?: string | undefined
    },
  ): Promise<void> {
    const { by, outcome, message, reason = outcome } = end
    const own = this.#own(state.sessionId)
    const how = outcome === 'killed' ? 'killed' : 'cancelled'
    for (const lane of own.lanes.values()) {
      const { run } = lane
      lane.close()
      if (run) await this.#stop(run, new RunStopped(how, by, reason))
    }
    const root = sessionRoot(state, by)
    const now = this.#parts.engine.session(state.sessionId)
    if (root && now && !hasEnded(now))
      await this.#parts.engine.perform([
        draftOf(root, 'session.completed', {
          outcome,
          ...(message && { message }),
          ...(end.reason && { reason: end.reason }),
        }),
      ])
    this.#sessions.delete(state.sessionId)
  }

  /** Runs a run again from its record, offline. */
  replay(which: RecordRef): Promise<Replay> {
    return replay({ parts: this.#parts, questions: this.questions }, which)
  }

  /** Goes on from one of the turns of a run in another way, as a session of its own. */
  branch(which: RecordRef, wish: BranchWish): Promise<{ sessionId: SessionId; step: number }> {
    const host = {
      parts: this.#parts,
      open: (request: OwnSessionRequest) => this.open(request),
      lane: (sessionId: SessionId, agent: string) => this.#lane(sessionId, agent),
      end: (state: Readonly<SessionState>) => this.end(state, { outcome: 'completed', by: 'muster' }),
    }
    return branchOff(host, which, wish)
  }

  decide(
    state: Readonly<SessionState>,
    ask: OpenApproval,
    given: { readonly decision: Decision; readonly by: string },
  ): Promise<void> {
    return this.questions.decide(state, ask, given)
  }

  /** Tells a run to end; it gets its end, whatever its tools do. */
  async #stop(run: LiveRun, why: RunStopped): Promise<void> {
    const { clock, engine } = this.#parts
    run.stop(why)
    const waiting = new AbortController()
    const isDone = await Promise.race([
      run.done.then(() => true),
      clock.sleep(graceMs, waiting.signal).then(
        () => false,
        () => true,
      ),
    ])
    waiting.abort()
    const state = engine.session(run.root.sessionId)
    const isOpen = [...(state?.open.values() ?? [])].some(({ spanId }) => spanId === run.root.spanId)
    if (isDone || !isOpen) return
    await engine.perform(endsOf(run, { status: 'stopped', why }, clock.now()))
  }

  async #queue(
    sessionId: SessionId,
    said: {
      readonly text: string
      readonly from: string
      readonly mode: Queued['mode']
      readonly to: string
    },
  ): Promise<string> {
    const { engine, vault, ids, clock } = this.#parts
    const state = engine.session(sessionId)
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
      vault: await vault.put(new TextEncoder().encode(said.text), sessionId),
      preview,
      queuedAtMs: clock.now(),
    }
    const { spanId, mode, by, from, to, vault: kept } = added
    await engine.perform([
      draftOf({ ...root, spanId, parentSpanId: root.spanId, actor: said.from }, 'message.queued', {
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
    const lane = this.#lane(sessionId, said.to)
    if (said.mode === 'urgent' && lane.run)
      await this.cancel(lane.run.runId, said.from, 'something urgent came')
    lane.poke()
    return messageId
  }

  #all(): Lane[] {
    return [...this.#sessions.values()].flatMap(({ lanes }) => [...lanes.values()])
  }

  #own(sessionId: SessionId): OwnSession {
    const known = this.#sessions.get(sessionId)
    if (known) return known
    const own: OwnSession = { lanes: new Map(), trail: [] }
    this.#sessions.set(sessionId, own)
    return own
  }

  #lane(sessionId: SessionId, agent: string, isNew = false): Lane {
    const own = this.#own(sessionId)
    const known = own.lanes.get(agent)
    if (known) return known
    const notes = new WorkNotes()
    const lane = new Lane(
      {
        parts: this.#parts,
        notes,
        plan: (run, given) =>
          ownPlan({
            ...given,
            parts: this.#parts,
            run,
            notes,
            depth: 0,
            scopes: [],
            questions: this.questions,
            tell: async (to, text) =>
              void (await this.#queue(sessionId, { to, text, from: agent, mode: 'important' })),
            handOver: (to) => this.#handOver(sessionId, agent, to),
          }),
        changed: (isBegin) => this.#changed(sessionId, isBegin),
      },
      { sessionId, agent, isNew },
    )
    own.lanes.set(agent, lane)
    return lane
  }

  /** A session works while one of its agents does. */
  async #changed(sessionId: SessionId, isBegin: boolean): Promise<void> {
    const { engine } = this.#parts
    const state = engine.session(sessionId)
    const root = state && !hasEnded(state) && sessionRoot(state, state.managed?.agentType ?? 'agent')
    if (!state || !root) return
    const isAtWork = [...this.#own(sessionId).lanes.values()].some(({ run }) => run !== undefined)
    const to = isAtWork ? 'running' : 'idle'
    if (state.lifecycle === to || (isBegin && !isAtWork)) return
    await engine.perform([draftOf(root, 'session.state.changed', { from: state.lifecycle, to })])
  }

  async #handOver(sessionId: SessionId, from: string, to: string): Promise<readonly string[] | undefined> {
    const own = this.#own(sessionId)
    if (own.trail.at(-1) !== from) own.trail.push(from)
    const circle = handoffLoop(own.trail, to)
    if (circle) return circle
    own.trail.push(to)
    const { engine } = this.#parts
    const state = engine.session(sessionId)
    const root = state && sessionRoot(state, from)
    if (root) await engine.perform([draftOf(root, 'session.updated', { agentType: to, by: from })])
    return undefined
  }

  async #takeUp(state: Readonly<SessionState>): Promise<void> {
    const { engine, config } = this.#parts
    const isResumed = config().runtime.on_restart === 'resume'
    const left = [...state.open.values()].filter(({ kind, parentRunId }) => kind === 'agent' && !parentRunId)
    for (const span of left) {
      const { runId } = span
      await tidyCutOff(this.#parts, { ...state, runId, workspace: state.managed?.workingDir ?? '/' })
      await (isResumed ? closeCutOff : failLeft)(engine, state, span)
    }
    if (isResumed) for (const span of left) this.#lane(state.sessionId, agentOf(span)).resume(span)
    if (!isResumed || left.length === 0) await settle(engine, state)
    for (const { to } of state.queue ?? []) if (to) this.#lane(state.sessionId, to).poke()
  }
}
