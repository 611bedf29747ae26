import { AppError } from '../../contract/errors.ts'
import type { AgentEvent, Draft } from '../../contract/event.ts'
import type { SessionId, SpanId } from '../../contract/ids.ts'
import { Turns } from '../../contract/turns.ts'
import type { OpenSpan, SessionState } from '../../core/session/state.ts'
import { derivedSpan } from '../../core/session-log/derived-ids.ts'
import type { Engine } from '../../engine/engine.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Clock } from '../../ports/clock.ts'
import {
  type Durable,
  type FlowPlace,
  type FlowStatus,
  FlowStopped,
  type FlowView,
  type Procedure,
  type Reached,
} from '../../ports/durable.ts'
import type { Vault } from '../../ports/vault.ts'
import { Book, bookTypes, withSignal } from './book.ts'
import { cancelled, finalized, stopped } from './flow-ends.ts'
import { LocalFlow } from './local-flow.ts'
import { digestOf, firstPhase, type Running, rootOf } from './running.ts'

/** A workflow as it is recorded. */
export type FlowRecord = Omit<FlowView, 'status'> & {
  readonly status: Exclude<FlowStatus, 'pending'>
  readonly inputDigest: string
}

/** What the local runner is made with. */
export type LocalDeps = {
  readonly engine: Engine
  readonly vault: Vault
  readonly clock: Clock
  readonly procedures: ReadonlyMap<string, Procedure<never, unknown>>
  /** The facts of a session of these types, oldest first. */
  readonly events: (sessionId: SessionId, types: readonly AgentEvent['type'][]) => AsyncIterable<AgentEvent>
  /** Workflows that are recorded: one of them, or all. */
  readonly records: (id?: string) => Promise<readonly FlowRecord[]>
  readonly onBug: (error: unknown, where: string) => void
}

/** So long a cancelled workflow may take to end by itself; then its end is written for it. */
const graceMs = 2000

/** Runs workflows in this process, through the engine: what a step did is a fact, what it gave is in the vault. */
export class LocalDurable implements Durable {
  readonly #deps: LocalDeps
  readonly #running = new Map<string, Running>()
  readonly #starting = new Turns<string>()

  constructor(deps: LocalDeps) {
    this.#deps = deps
  }

  /** Goes on with what an earlier daemon left. */
  async takeUp(): Promise<void> {
    for (const state of Array.from(this.#deps.engine.sessions()))
      for (const span of Array.from(state.open.values()))
        if (span.kind === 'workflow')
          await this.#takeUp(state, span).catch((error: unknown) =>
            this.#deps.onBug(error, `taking up the workflow of ${state.sessionId}`),
          )
  }

  /** Goes on with one that stands still; false when it runs, has ended, or was begun under another version. */
  async resume(id: string): Promise<boolean> {
    if (this.#running.has(id)) return false
    const [record] = await this.#deps.records(id)
    const state = record && this.#deps.engine.session(record.sessionId)
    const span = [...(state?.open.values() ?? [])].find(
      (one) => one.kind === 'workflow' && one.workflowId === id,
    )
    if (state && span) await this.#takeUp(state, span)
    return this.#running.has(id)
  }

  /** Lets go of all for the next daemon. */
  async stop(): Promise<void> {
    const left = [...this.#running.values()]
    for (const { controller } of left) controller.abort(new FlowStopped('daemon', 'muster', 'Muster stops'))
    await this.#inTime(Promise.all(left.map(({ ended }) => ended)))
  }

  async start(
    name: string,
    given: { readonly id: string; readonly input: unknown; readonly at: FlowPlace },
  ): Promise<'started' | 'known'> {
    // Two who start the same at once get one workflow.
    return this.#starting.take(given.id, () => this.#start(name, given))
  }

  async result(id: string): Promise<unknown> {
    const running = this.#running.get(id)
    if (running) {
      // Its end is a fact before anybody is told of it.
      await running.ended
      return running.result
    }
    const [record] = await this.#deps.records(id)
    if (!record) throw unknownFlow(id)
    for await (const event of this.#deps.events(record.sessionId, ['workflow.finalized']))
      if (event.type === 'workflow.finalized' && event.workflowId === id) return event.payload.result
    throw new AppError('conflict', `${id} has given nothing: it is ${record.status}`)
  }

  isRunning(id: string): boolean {
    return this.#running.has(id)
  }

  /** Resolves when it has its end, or was left for the next daemon. */
  async ended(id: string): Promise<void> {
    await this.#running.get(id)?.ended
  }

  async signal(
    id: string,
    said: { readonly topic: string; readonly value: unknown; readonly facts?: readonly Draft[] },
  ): Promise<Reached> {
    const running = this.#running.get(id)
    if (!running) return this.#absent(id)
    await running.book.tell(rootOf(running), said)
    return 'delivered'
  }

  async cancel(
    id: string,
    { by, reason }: { readonly by: string; readonly reason: string },
  ): Promise<Reached> {
    const running = this.#running.get(id)
    if (!running) return this.#absent(id)
    running.controller.abort(new FlowStopped('cancelled', by, reason))
    await this.#inTime(Promise.all([running.ended, running.left]))
    await cancelled(this.#deps, running, { by, reason })
    return 'delivered'
  }

  async fork(
    id: string,
    { as, at, before }: { readonly as: string; readonly at: FlowPlace; readonly before?: string },
  ): Promise<void> {
    const [record] = await this.#deps.records(id)
    if (!record) throw unknownFlow(id)
    const book = new Book(this.#deps)
    let input: unknown
    for await (const event of this.#eventsOf(id, record.sessionId))
      if (event.type === 'workflow.started') input = await this.#inputOf(event.payload.vault)
      else book.read(event)
    const steps = book.steps()
    const until = before === undefined ? steps.length : placeOf(steps, before)
    if (until < 0)
      throw new AppError(
        'not_found',
        `${id} has no step ${before}; it has: ${steps.join(', ') || 'none yet'}`,
      )
    const procedure = this.#procedure(record.name)
    const made = await this.#begin({ id: as, input, at }, procedure, {
      workflowId: id,
      ...(before !== undefined && { step: before }),
    })
    for (const step of steps.slice(0, until)) {
      const outcome = await book.outcome(step)
      if (outcome) await made.book.keep(rootOf(made), step, { outcome, facts: [] })
    }
    this.#launch(made, procedure, input)
  }

  async list(): Promise<readonly FlowView[]> {
    // One that ends while the records are read is not one that stands still.
    const before = new Set(this.#running.keys())
    return (await this.#deps.records()).map(({ inputDigest: _digest, ...record }) => {
      const isHere = before.has(record.id) || this.#running.has(record.id)
      return record.status === 'running' && !isHere ? { ...record, status: 'pending' } : record
    })
  }

  async #start(
    name: string,
    given: { readonly id: string; readonly input: unknown; readonly at: FlowPlace },
  ): Promise<'started' | 'known'> {
    const { id, input } = given
    const procedure = this.#procedure(name)
    const running = this.#running.get(id)
    const known = running?.digest ?? (await this.#deps.records(id))[0]?.inputDigest
    if (known !== undefined) {
      if (known === digestOf(input)) return 'known'
      throw new AppError('conflict', `there is a workflow ${id} with another input; choose another id`)
    }
    this.#launch(await this.#begin(given, procedure), procedure, input)
    return 'started'
  }

  async #begin(
    { id, input, at }: { readonly id: string; readonly input: unknown; readonly at: FlowPlace },
    { name, version }: Procedure<never, unknown>,
    forkOf?: { readonly workflowId: string; readonly step?: string },
  ): Promise<Running> {
    const { engine, vault, clock } = this.#deps
    const spanId = derivedSpan(id)
    const kept = await vault.put(new TextEncoder().encode(JSON.stringify({ input })), at.sessionId)
    const running = this.#made({
      id,
      at,
      spanId,
      name,
      version,
      input,
      startedMs: clock.now(),
      isAgain: false,
    })
    await engine.perform([
      draftOf({ ...rootOf(running), parentSpanId: at.spanId }, 'workflow.started', {
        workflowId: id,
        name,
        version,
        vault: kept,
        inputDigest: running.digest,
        ...(forkOf && { forkOf }),
      }),
    ])
    return running
  }

  #made(given: {
    readonly id: string
    readonly at: FlowPlace
    readonly spanId: SpanId
    readonly name: string
    readonly version: string
    readonly input: unknown
    readonly startedMs: number
    readonly isAgain: boolean
  }): Running {
    const controller = new AbortController()
    const { input, ...rest } = given
    return {
      ...rest,
      digest: digestOf(input),
      book: new Book(this.#deps),
      clock: this.#deps.clock,
      signal: controller.signal,
      controller,
      halt: (error) => {
        this.#deps.onBug(error, `writing down ${given.id}`)
        controller.abort(new FlowStopped('daemon', 'muster', 'what it does could not be written down'))
      },
      result: Promise.resolve(),
      left: Promise.resolve(),
      ended: Promise.resolve(),
    }
  }

  #launch(running: Running, procedure: Procedure<never, unknown>, input: unknown): void {
    const flow = new LocalFlow(running, '', firstPhase)
    this.#running.set(running.id, running)
    const work = procedure.run(flow, input as never)
    running.left = work.then(
      () => {},
      () => {},
    )
    running.result = withSignal(work, running.signal)
    running.ended = running.result
      .then(
        (value) => finalized(this.#deps, running, value),
        (error: unknown) => stopped(this.#deps, running, error),
      )
      .catch((error: unknown) => this.#deps.onBug(error, `the end of ${running.id}`))
      .finally(() => this.#running.delete(running.id))
  }

  async #takeUp(state: Readonly<SessionState>, span: OpenSpan): Promise<void> {
    const { engine, clock } = this.#deps
    const id = typeof span.facts['workflowId'] === 'string' ? span.facts['workflowId'] : ''
    const { sessionId } = state
    let running: Running | undefined
    let input: unknown
    let phase = firstPhase
    for await (const event of this.#eventsOf(id, sessionId)) {
      if (event.type === 'workflow.started') {
        const { name = '', version = '', vault } = event.payload
        const { traceId, runId, parentSpanId, actor } = event
        input = await this.#inputOf(vault)
        const at = { sessionId, traceId, runId, spanId: parentSpanId ?? span.spanId, actor }
        const startedMs = Date.parse(event.timestamp)
        running = this.#made({ id, at, spanId: span.spanId, name, version, input, startedMs, isAgain: true })
      } else {
        running?.book.read(event)
        phase = event.phase ?? phase
      }
    }
    if (!running) throw new Error(`${id} is open, and its beginning is not in the journal`)
    const procedure = this.#deps.procedures.get(running.name)
    // What was begun under another version stays as it is, to be seen and to be forked.
    if (procedure?.version !== running.version) return
    const resumedAt = new Date(clock.now()).toISOString()
    const last = running.book.steps().at(-1)
    await engine.perform([
      draftOf(rootOf(running, phase), 'workflow.checkpoint.resumed', {
        workflowId: id,
        phase,
        resumedAt,
        ...(last && { checkpointId: last }),
      }),
    ])
    this.#launch(running, procedure, input)
  }

  async *#eventsOf(id: string, sessionId: SessionId): AsyncIterable<AgentEvent> {
    for await (const event of this.#deps.events(sessionId, ['workflow.started', ...bookTypes]))
      if (event.workflowId === id) yield event
  }

  async #inputOf(name: string | undefined): Promise<unknown> {
    const bytes = name === undefined ? undefined : await this.#deps.vault.get(name).catch(() => undefined)
    if (!bytes)
      throw new AppError('conflict', 'what it was begun with is no longer in the vault; begin it anew')
    return (JSON.parse(new TextDecoder().decode(bytes)) as { input?: unknown }).input
  }

  #procedure(name: string): Procedure<never, unknown> {
    const found = this.#deps.procedures.get(name)
    if (!found) throw new AppError('not_found', `there is no procedure ${name}`)
    return found
  }

  async #absent(id: string): Promise<Reached> {
    const [record] = await this.#deps.records(id)
    return !record ? 'unknown' : record.status === 'running' ? 'unknown' : 'finished'
  }

  async #inTime(work: Promise<unknown>): Promise<void> {
    const waiting = new AbortController()
    await Promise.race([work, this.#deps.clock.sleep(graceMs, waiting.signal).catch(() => {})])
    waiting.abort()
  }
}

/** The first thing that was done of a step, or of a branch: its own steps end before it does. */
const placeOf = (steps: readonly string[], path: string): number =>
  steps.findIndex((step) => step === path || step.startsWith(`${path}/`))

const unknownFlow = (id: string): AppError =>
  new AppError('not_found', `there is no workflow ${id}; sm workflow list shows them`)
