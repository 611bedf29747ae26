import type { Decision } from '../contract/decision.ts'
import { type RunId, type SessionId, shortId } from '../contract/ids.ts'
import { type Asker, muster } from '../contract/principal.ts'
import type { Budget, LoopMode } from '../contract/values.ts'
import type { OpenApproval } from '../core/approvals/open-approvals.ts'
import { chooseModels } from '../core/model/choose-models.ts'
import { hasEnded, type SessionState, spanKey } from '../core/session/state.ts'
import { askedBy, draftOf, type Root, sessionRoot } from '../engine/sessions/drafts.ts'
import { beginWithin } from '../engine/sessions/spawn.ts'
import { failLeft, stopped } from './interrupted-runs.ts'
import type { Lane } from './lane.ts'
import { type LiveRun, RunStopped } from './live-run.ts'
import { mainAgent } from './main-agent.ts'
import { Questions } from './questions.ts'
import { type BranchWish, branchOff } from './replay/branch.ts'
import type { RecordRef } from './replay/load-record.ts'
import { type Replay, replay } from './replay/replay.ts'
import { stopGraceMs, stopRun } from './run-ends.ts'
import type { RuntimeParts } from './runtime-parts.ts'
import { SessionLanes } from './session-lanes.ts'
import { WorkflowAgents } from './workflow-agents.ts'

/** A session with a built-in agent, as it is asked for. */
export type BuiltInSessionRequest = {
  readonly agent: string
  readonly workspace: string
  readonly by: Asker
  readonly parent?: Readonly<SessionState> | undefined
  readonly name?: string | undefined
  readonly loop?: LoopMode | undefined
  readonly model?: string | undefined
  readonly budget?: Budget | undefined
  readonly replayOf?: { readonly runId: RunId; readonly step: number } | undefined
}

/** Runs the built-in agents: their sessions, and the runs that are under way. */
export class Runtime {
  readonly questions: Questions
  /** Agents at the work of workflows. */
  readonly workflowAgents: WorkflowAgents
  readonly #parts: RuntimeParts
  readonly #sessions = new Map<SessionId, SessionLanes>()

  constructor(parts: RuntimeParts) {
    this.#parts = parts
    this.questions = new Questions(parts)
    this.workflowAgents = new WorkflowAgents(parts, this.questions)
  }

  /** Takes up what was open when the daemon was last stopped: runs go on or have failed, and what waits is begun. */
  async start(): Promise<void> {
    const { engine, onBug } = this.#parts
    for (const state of Array.from(engine.sessions()))
      if (state.managed?.origin === 'runtime' && !(hasEnded(state) && state.open.size === 0))
        await this.session(state.sessionId)
          .takeUp(state)
          .catch((error: unknown) => onBug(error, `taking up ${state.sessionId}`))
  }

  /** Stops for the daemon: a run that shall go on later is left open, any other has failed. */
  async stop(): Promise<void> {
    const { engine, config, clock } = this.#parts
    const lanes = this.#all()
    const left = lanes.flatMap(({ run }) => run ?? [])
    for (const lane of lanes) {
      lane.close()
      lane.run?.stop(new RunStopped('daemon', muster, stopped))
    }
    const waiting = new AbortController()
    await Promise.race([
      Promise.all(lanes.map((lane) => lane.settled())),
      clock.sleep(stopGraceMs, waiting.signal).catch(() => {}),
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
  async open(request: BuiltInSessionRequest): Promise<SessionId> {
    const { engine, ids } = this.#parts
    const { parent, workspace, by } = request
    const agent = await mainAgent(this.#parts, request.agent, workspace)
    await this.#refuseWithoutModel(agent.model, request.model)
    const sessionId = ids.session()
    const root: Root = {
      sessionId,
      traceId: parent?.traceId ?? ids.trace(),
      runId: ids.run(),
      spanId: ids.span(),
      actor: by.name,
    }
    const drafts = [
      draftOf(askedBy(root, by), 'session.started', {
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
    await beginWithin(engine, drafts, { asker: by, parent, limits: this.#parts.config().limits })
    this.session(sessionId).lane(agent.name, true)
    return sessionId
  }

  /** Said before a session is begun: one in which nobody could answer would only be in the way. */
  async #refuseWithoutModel(agent: string | undefined, override: string | undefined): Promise<void> {
    const { models, config } = this.#parts
    const statuses = await models.list(new AbortController().signal)
    chooseModels({ agent, override, config: config().models, statuses })
  }

  /** Every run that is under way. */
  runs(): LiveRun[] {
    const top = [...this.#all().flatMap(({ run }) => run ?? []), ...this.workflowAgents.runs()]
    return top.flatMap((run) => run.tree())
  }

  /** Ends a run and all that works for it; answers which those were. What waits for the agent is taken up after it. */
  cancel(runId: RunId, by: Asker, reason = 'cancelled by user'): Promise<readonly RunId[]> {
    return this.#stop(runId, new RunStopped('cancelled', by, reason))
  }

  /** The same by force, which its end says. */
  kill(runId: RunId, by: Asker, reason: string): Promise<readonly RunId[]> {
    return this.#stop(runId, new RunStopped('killed', by, reason))
  }

  async #stop(runId: RunId, why: RunStopped): Promise<readonly RunId[]> {
    // A run that has turns is that of a whole workflow, which is ended as such.
    const run = this.runs().find((one) => one.runId === runId && one.turn === undefined)
    if (!run) return []
    const ended = run.tree()
    await stopRun(this.#parts, run, why)
    return ended.map((one) => one.runId)
  }

  /** Ends what all agents of a session do. */
  async interrupt(sessionId: SessionId, by: Asker): Promise<void> {
    for (const { run } of this.session(sessionId).lanes()) if (run) await this.cancel(run.runId, by)
  }

  /** Ends a session: its runs first, then itself. */
  async end(
    state: Readonly<SessionState>,
    end: {
      readonly outcome: 'completed' | 'killed' | 'cancelled' | 'abandoned'
      readonly by: Asker
      readonly message?: string | undefined
      readonly reason?: string | undefined
    },
  ): Promise<void> {
    const { by, outcome, message, reason = outcome } = end
    const how = outcome === 'killed' ? 'killed' : 'cancelled'
    for (const lane of this.session(state.sessionId).lanes()) {
      const { run } = lane
      lane.close()
      if (run) await stopRun(this.#parts, run, new RunStopped(how, by, reason))
    }
    const root = sessionRoot(state, by.name)
    const now = this.#parts.engine.session(state.sessionId)
    if (root && now && !hasEnded(now))
      await this.#parts.engine.perform([
        draftOf(askedBy(root, by), 'session.completed', {
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
      open: (request: BuiltInSessionRequest) => this.open(request),
      lane: (sessionId: SessionId, agent: string) => this.session(sessionId).lane(agent),
      end: (state: Readonly<SessionState>) => this.end(state, { outcome: 'completed', by: muster }),
    }
    return branchOff(host, which, wish)
  }

  decide(
    state: Readonly<SessionState>,
    ask: OpenApproval,
    given: { readonly decision: Decision; readonly by: Asker },
  ): Promise<void> {
    return this.questions.decide(state, ask, given)
  }

  #all(): Lane[] {
    return [...this.#sessions.values()].flatMap((session) => session.lanes())
  }

  /** A session as the runtime keeps it, also of one that nobody has spoken to since the start. */
  session(id: SessionId): SessionLanes {
    const known = this.#sessions.get(id)
    if (known) return known
    const made = new SessionLanes({ parts: this.#parts, questions: this.questions }, id)
    this.#sessions.set(id, made)
    return made
  }
}
