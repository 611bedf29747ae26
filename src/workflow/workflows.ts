import type { Config } from '../contract/config.ts'
import type { Decision } from '../contract/decision.ts'
import { AppError } from '../contract/errors.ts'
import type { EventOf, PayloadOf } from '../contract/event.ts'
import { type SessionId, shortId } from '../contract/ids.ts'
import { type Asker, muster } from '../contract/principal.ts'
import type { Agent, Budget, WorkflowOutcome } from '../contract/values.ts'
import type { OpenApproval } from '../core/approvals/open-approvals.ts'
import { workflowEnds, workflowOutcome } from '../core/collaboration/workflow-outcome.ts'
import { hasEnded, type SessionState } from '../core/session/state.ts'
import type { Engine } from '../engine/engine.ts'
import { askedBy, draftOf, type Root } from '../engine/sessions/drafts.ts'
import { beginWithin } from '../engine/sessions/spawn.ts'
import type { Clock, Ids } from '../ports/clock.ts'
import type { FlowPlace, FlowView, ForkWish, Procedure, Reached } from '../ports/durable.ts'
import type { ReadFacts } from '../ports/facts.ts'
import type { Vault } from '../ports/storage.ts'
import { approvalTopic } from './ask-person.ts'
import { LocalDurable } from './local/local-durable.ts'
import type { FlowRecord } from './local/recorded-flow.ts'

/** What workflows are run with. */
export type WorkflowDeps = {
  readonly engine: Engine
  readonly vault: Vault
  readonly clock: Clock
  readonly ids: Ids
  readonly limits: () => Config['limits']
  readonly procedures: readonly Procedure<never, unknown>[]
  readonly events: ReadFacts
  readonly records: (id?: string) => Promise<readonly FlowRecord[]>
  readonly onBug: (error: unknown, where: string) => void
}

/** A workflow as it is asked for. */
export type Begin = {
  readonly procedure: string
  readonly input: unknown
  readonly workspace: string
  readonly by: Asker
  /** What the session is called: `<kind>-<short id>`. */
  readonly kind: string
  readonly title: string
  /** The whole of what was asked for. */
  readonly prompt?: string
  readonly name?: string | undefined
  readonly parent?: Readonly<SessionState> | undefined
  readonly budget?: Budget | undefined
  readonly collaboration?: PayloadOf<'session.started'>['collaboration']
  /** The built-in agent whose run is that of the whole workflow; all that it is asked is a turn in it. */
  readonly architect?: Agent | undefined
}

/** Runs workflows, each in a session of its own: begins them, takes their answers, ends them. */
export class Workflows {
  readonly #deps: WorkflowDeps
  readonly #durable: LocalDurable
  /** Sessions that somebody ends: how is theirs to say, not of whoever waits for the last workflow in them. */
  readonly #ending = new Set<SessionId>()
  /** Sessions that were begun before what an earlier daemon left was looked at. */
  #begun: Set<SessionId> | undefined = new Set()

  constructor(deps: WorkflowDeps) {
    this.#deps = deps
    this.#durable = new LocalDurable({
      ...deps,
      procedures: new Map(deps.procedures.map((procedure) => [procedure.name, procedure])),
    })
  }

  /** Goes on with what an earlier daemon left. */
  async start(): Promise<void> {
    // Those that begin meanwhile, or began while this was on its way, are followed by whoever begins them.
    const begun = this.#begun
    this.#begun = undefined
    const earlier = Array.from(this.#deps.engine.sessions()).filter(({ sessionId }) => !begun?.has(sessionId))
    await this.#durable.takeUp()
    for (const state of earlier) if (state.managed?.origin === 'workflow') this.#follow(state.sessionId)
  }

  async stop(): Promise<void> {
    await this.#durable.stop()
  }

  async begin(wish: Begin): Promise<{ readonly sessionId: SessionId; readonly workflowId: string }> {
    const { at, workflowId } = await this.#session(wish)
    try {
      await this.#durable.start(wish.procedure, { id: workflowId, input: wish.input, at, by: wish.by.by })
    } catch (error) {
      await this.#unbegun(at.sessionId, error)
      throw error
    }
    this.#follow(at.sessionId)
    return { sessionId: at.sessionId, workflowId }
  }

  /** Goes on with a workflow that stands still. */
  async resume(id: string, by: Asker): Promise<boolean> {
    const isRunning = await this.#durable.resume(id, by)
    const [record] = isRunning ? await this.#deps.records(id) : []
    if (record) this.#follow(record.sessionId)
    return isRunning
  }

  /** Begins another workflow with all that one had done before a step. */
  async fork(
    id: string,
    wish: Omit<Begin, 'procedure' | 'input'>,
    other: ForkWish,
  ): Promise<{ readonly sessionId: SessionId; readonly workflowId: string }> {
    await this.#durable.forkable(id)
    const { at, workflowId } = await this.#session(wish)
    try {
      await this.#durable.fork(id, { as: workflowId, at, by: wish.by.by, ...other })
    } catch (error) {
      await this.#unbegun(at.sessionId, error)
      throw error
    }
    this.#follow(at.sessionId)
    return { sessionId: at.sessionId, workflowId }
  }

  async #session(
    wish: Omit<Begin, 'procedure' | 'input'>,
  ): Promise<{ readonly at: FlowPlace; readonly workflowId: string }> {
    const { ids, engine } = this.#deps
    const { parent } = wish
    const sessionId = ids.session()
    this.#begun?.add(sessionId)
    const workflowId = `${wish.kind}-${shortId(sessionId)}`
    const root: Root = {
      sessionId,
      traceId: parent?.traceId ?? ids.trace(),
      runId: ids.run(),
      spanId: ids.span(),
      actor: wish.by.name,
    }
    const started = draftOf(askedBy(root, wish.by), 'session.started', {
      name: workflowId,
      title: wish.title,
      ...(wish.prompt && { prompt: wish.prompt }),
      origin: 'workflow',
      cli: 'own',
      workingDir: wish.workspace,
      depth: parent ? parent.depth + 1 : 0,
      ...(wish.collaboration && {
        collaboration: wish.collaboration,
        agent: wish.collaboration.orchestrator,
      }),
      ...(wish.name && { friendlyName: wish.name }),
      ...(wish.budget && { budget: wish.budget }),
      ...(parent && { parentSessionId: parent.sessionId }),
    })
    const run = { ...root, spanId: ids.span(), actor: wish.kind }
    const { agentId, agentType } = wish.architect ?? { agentId: wish.kind, agentType: 'workflow' }
    const spawned = draftOf({ ...run, actor: agentId, parentSpanId: root.spanId }, 'agent.spawned', {
      agentId,
      agentType,
      kind: 'main',
      ...(wish.prompt && { agentTask: wish.prompt }),
    })
    const limits = this.#deps.limits()
    await beginWithin(engine, [started, spawned], { asker: wish.by, parent, limits, isOpenParent: true })
    return { at: run, workflowId }
  }

  /** What it gave in the end. */
  result(id: string): Promise<unknown> {
    return this.#durable.result(id)
  }

  list(): Promise<readonly FlowView[]> {
    return this.#durable.list()
  }

  async cancel(id: string, why: { readonly by: Asker; readonly reason: string }): Promise<Reached> {
    const isFollowed = this.#durable.isRunning(id)
    const reached = await this.#durable.cancel(id, why)
    const [record] = isFollowed || reached !== 'delivered' ? [] : await this.#deps.records(id)
    if (record) this.#follow(record.sessionId)
    return reached
  }

  /** Gives the answer to a question of a workflow; the first wins. */
  async decide(
    state: Readonly<SessionState>,
    ask: OpenApproval,
    { decision, by }: { readonly decision: Decision; readonly by: Asker },
  ): Promise<void> {
    const span = [...state.open.values()].find(({ spanId }) => spanId === ask.spanId)
    const workflowId = span?.workflowId
    if (!span || workflowId === undefined)
      throw new AppError('conflict', 'nothing is waiting for this answer any more')
    const { approvalId, subject } = ask
    const { kind: _kind, facts: _facts, ...place } = span
    const root = askedBy({ ...place, sessionId: state.sessionId, actor: by.name }, by)
    const decided = {
      approvalId,
      subject,
      by: by.name,
      latencyMs: Math.max(0, this.#deps.clock.now() - ask.requestedAtMs),
    }
    const fact =
      decision.verdict === 'allow'
        ? draftOf(root, 'approval.granted', {
            ...decided,
            scope: 'once',
            ...(decision.answers && { answer: decision.answers }),
          })
        : draftOf(root, 'approval.rejected', {
            ...decided,
            ...(decision.reason && { reason: decision.reason }),
          })
    const reached = await this.#durable.signal(workflowId, {
      topic: approvalTopic(approvalId),
      value: decision,
      facts: [fact],
    })
    if (reached !== 'delivered')
      throw new AppError(
        'conflict',
        `${workflowId} is not running, so it cannot be answered; see: sm workflow list`,
      )
  }

  /** Ends the session of a workflow: what runs in it first. */
  async end(
    state: Readonly<SessionState>,
    {
      outcome,
      by,
      reason,
    }: {
      readonly outcome: 'killed' | 'cancelled'
      readonly by: Asker
      readonly reason?: string | undefined
    },
  ): Promise<void> {
    const { sessionId } = state
    this.#ending.add(sessionId)
    try {
      for (const { kind, workflowId } of Array.from(state.open.values()))
        if (kind === 'workflow' && workflowId !== undefined)
          await this.#durable.cancel(workflowId, { by, reason: reason ?? outcome })
      await this.#close(sessionId, { outcome, ...(reason && { reason }) }, by)
    } finally {
      this.#ending.delete(sessionId)
    }
  }

  /** A session lasts as long as something runs in it; what came of it is its outcome. */
  #follow(sessionId: SessionId): void {
    this.#untilQuiet(sessionId).catch((error: unknown) =>
      this.#deps.onBug(error, `the end of the workflows of ${sessionId}`),
    )
  }

  async #untilQuiet(sessionId: SessionId): Promise<void> {
    const { engine } = this.#deps
    for (;;) {
      const state = engine.session(sessionId)
      if (!state || hasEnded(state)) return
      const open = [...state.open.values()].find(({ kind }) => kind === 'workflow')
      const id = open?.workflowId
      if (id === undefined) break
      if (!this.#durable.isRunning(id)) return
      await this.#durable.ended(id)
      // It was left for the next daemon.
      if (engine.session(sessionId)?.open.has(open?.spanId ?? '')) return
    }
    if (!this.#ending.has(sessionId)) await this.#over(sessionId)
  }

  /** Nothing runs in it any more: what came of its last workflow is what came of it. */
  async #over(sessionId: SessionId): Promise<void> {
    let last: EventOf<(typeof workflowEnds)[number]> | undefined
    for await (const event of this.#deps.events(sessionId, workflowEnds))
      last = event as EventOf<(typeof workflowEnds)[number]>
    const { outcome, why } = last
      ? workflowOutcome(last)
      : { outcome: 'failed' as const, why: 'Muster was stopped before it began; start it again' }
    await this.#close(sessionId, { outcome, reason: why }, muster)
  }

  /** Nothing ran in it, and it says why; where that cannot be written, the next daemon says so. */
  async #unbegun(sessionId: SessionId, error: unknown): Promise<void> {
    const text = error instanceof Error ? error.message : String(error)
    const reason = `it could not start: ${text}`
    await this.#close(sessionId, { outcome: 'failed', reason }, muster).catch((bug: unknown) =>
      this.#deps.onBug(bug, `the end of ${sessionId}, in which nothing began`),
    )
  }

  async #close(
    sessionId: SessionId,
    {
      outcome,
      reason: why,
    }: { readonly outcome: WorkflowOutcome | 'killed'; readonly reason?: string | undefined },
    by: Asker,
  ): Promise<void> {
    const { engine } = this.#deps
    const state = engine.session(sessionId)
    const span = state && !hasEnded(state) && [...state.open.values()].find(({ kind }) => kind === 'session')
    if (!span) return
    const { traceId, runId, spanId } = span
    const root = askedBy({ sessionId, traceId, runId, spanId, actor: by.name }, by)
    const reason = why?.replaceAll(/\s+/g, ' ').slice(0, 1000)
    const isBad = outcome === 'failed' || outcome === 'rejected'
    const run = rootRun(state)
    const agentId = String(run?.facts['agentId'])
    await engine.perform([
      ...(run
        ? [
            draftOf({ ...root, spanId: run.spanId }, `agent.${isBad ? 'failed' : outcome}`, {
              agentId,
              ...(reason && { reason }),
            }),
          ]
        : []),
      isBad
        ? draftOf(root, 'session.failed', { outcome, ...(reason && { reason }) })
        : draftOf(root, 'session.completed', { outcome, ...(reason && { reason }) }),
    ])
  }
}

/** The run of the workflows of a session: whoever works for them has it as its parent. */
const rootRun = ({ open }: Readonly<SessionState>) =>
  [...open.values()].find(({ kind, parentRunId }) => kind === 'agent' && parentRunId === undefined)
