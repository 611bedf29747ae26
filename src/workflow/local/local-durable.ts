import { derivedSpan } from '../../contract/derived-ids.ts'
import { AppError } from '../../contract/errors.ts'
import type { By, Draft } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import { withSignal } from '../../contract/linked.ts'
import { type Asker, muster } from '../../contract/principal.ts'
import { Turns } from '../../contract/turns.ts'
import { askedBy, draftOf } from '../../engine/sessions/drafts.ts'
import {
  type Durable,
  type FlowPlace,
  FlowStopped,
  type FlowView,
  type ForkWish,
  type Procedure,
  type Reached,
} from '../../ports/durable.ts'
import { cancelled, finalized, stopped } from './flow-ends.ts'
import { copySteps, type Fork, readFork } from './fork-flow.ts'
import { digestOf, firstPhase, LocalFlow, type Running, rootOf } from './local-flow.ts'
import { type FlowRecord, type LocalDeps, newRunning, type OpenFlow, readOpenFlow } from './recorded-flow.ts'
import { StoppingFlows } from './stopping-flows.ts'

/** So long a cancelled workflow may take to end by itself; then its end is written for it. */
const graceMs = 2000

/** A workflow that begins: where, with what, and who asked for it. */
type Beginning = {
  readonly id: string
  readonly input: unknown
  readonly at: FlowPlace
  readonly by?: By
}

/** Runs workflows in this process, through the engine: what a step did is a fact, what it gave is in the vault. */
export class LocalDurable implements Durable {
  readonly #deps: LocalDeps
  readonly #running = new Map<string, Running>()
  readonly #starting = new Turns<string>()
  readonly #stopping: StoppingFlows

  constructor(deps: LocalDeps) {
    this.#deps = deps
    this.#stopping = new StoppingFlows(deps)
  }

  /** Goes on with what an earlier daemon left. */
  async takeUp(): Promise<void> {
    for (const state of Array.from(this.#deps.engine.sessions()))
      for (const span of Array.from(state.open.values()))
        if (span.kind === 'workflow')
          await this.#goOn(state.sessionId, span.workflowId ?? '').catch((error: unknown) =>
            this.#deps.onBug(error, `taking up the workflow of ${state.sessionId}`),
          )
    for (const procedure of this.#deps.procedures.values()) void this.#stopping.clear(procedure)
  }

  /** Goes on with one that stands still; false when it runs, has ended, or was begun under another version. */
  async resume(id: string, by?: Asker): Promise<boolean> {
    if (this.#running.has(id)) return false
    const [record] = await this.#deps.records(id)
    if (record) await this.#goOn(record.sessionId, id, by)
    return this.#running.has(id)
  }

  /** Lets go of all for the next daemon. */
  async stop(): Promise<void> {
    const left = [...this.#running.values()]
    for (const { controller } of left) controller.abort(new FlowStopped('daemon', muster, 'Muster stops'))
    await this.#inTime(Promise.all([...left.map(({ ended }) => ended), this.#stopping.allBut(this.#running)]))
  }

  async start(name: string, given: Beginning): Promise<'started' | 'known'> {
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
    for await (const event of this.#deps.events(record.sessionId, [
      'workflow.finalized',
      'workflow.failed',
    ])) {
      if (event.workflowId !== id) continue
      if (event.type === 'workflow.finalized') return event.payload.result
      if (event.type === 'workflow.failed' && event.payload.result !== undefined) return event.payload.result
    }
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
    { by, reason }: { readonly by: Asker; readonly reason: string },
  ): Promise<Reached> {
    const running = this.#running.get(id)
    if (!running) return this.#callOff(id, { by, reason })
    running.controller.abort(new FlowStopped('cancelled', by, reason))
    await this.#inTime(Promise.all([running.ended, running.left]))
    await cancelled(this.#deps, running, { by, reason })
    return 'delivered'
  }

  async fork(
    id: string,
    { as, at, by, ...wish }: Omit<Beginning, 'id' | 'input'> & { readonly as: string } & ForkWish,
  ): Promise<void> {
    const record = await this.forkable(id)
    const { input, fork } = await readFork(this.#deps, record, wish)
    const procedure = this.#procedure(record.name)
    const beginning = { id: as, input, at, ...(by !== undefined && { by }) }
    this.#launch(await this.#begin(beginning, procedure, fork), procedure, input)
  }

  /** What is recorded of it; refused when it cannot be forked. */
  async forkable(id: string): Promise<FlowRecord> {
    const [record] = await this.#deps.records(id)
    if (!record) throw unknownFlow(id)
    const why = this.#procedure(record.name).unforkable
    if (why !== undefined) throw new AppError('conflict', `${id} cannot be forked: ${why}`)
    return record
  }

  async list(): Promise<readonly FlowView[]> {
    // One that ends while the records are read is not one that stands still.
    const before = new Set(this.#running.keys())
    return (await this.#deps.records()).map(({ inputDigest: _digest, ...record }) => {
      const isHere = before.has(record.id) || this.#running.has(record.id)
      return record.status === 'running' && !isHere ? { ...record, status: 'pending' } : record
    })
  }

  async #start(name: string, given: Beginning): Promise<'started' | 'known'> {
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
    { id, input, at, by = muster.by }: Beginning,
    { name, version }: Procedure<never, unknown>,
    fork?: Fork,
  ): Promise<Running> {
    const { engine, vault, clock } = this.#deps
    const spanId = derivedSpan(id)
    const kept = await vault.put(new TextEncoder().encode(JSON.stringify({ input })), at.sessionId)
    const running = newRunning(this.#deps, {
      id,
      at,
      spanId,
      name,
      version,
      input,
      startedMs: clock.now(),
      isAgain: false,
    })
    const root = rootOf(running)
    const started = draftOf({ ...root, parentSpanId: at.spanId, by }, 'workflow.started', {
      workflowId: id,
      name,
      version,
      vault: kept,
      inputDigest: running.digest,
      ...(fork && { forkOf: fork.forkOf }),
    })
    // With its start or not at all: what was not copied would be done and paid for once more.
    await engine.perform(
      [started, ...(fork ? await copySteps(running.book, root, fork) : [])],
      undefined,
      'whole',
    )
    return running
  }

  #launch(running: Running, procedure: Procedure<never, unknown>, input: unknown): void {
    const flow = new LocalFlow(running, '', firstPhase)
    this.#running.set(running.id, running)
    const work = procedure.run(flow, input as never)
    running.left = work.catch(() => {}).then(() => flow.quiet())
    this.#stopping.add(running.id, running.left)
    running.result = this.#toItsEnd(running, withSignal(work, running.signal))
    running.ended = running.result
      .then(
        () => {},
        () => {},
      )
      .finally(() => this.#running.delete(running.id))
  }

  /** Nobody is told of an end that could not be written: it would come again, perhaps as another. */
  async #toItsEnd(running: Running, work: Promise<unknown>): Promise<unknown> {
    const unwritten = (error: unknown): never => {
      this.#deps.onBug(error, `the end of ${running.id}`)
      throw new AppError(
        'unavailable',
        `the end of ${running.id} could not be recorded; continue with: sm workflow resume ${running.id}`,
        { cause: error },
      )
    }
    let value: unknown
    try {
      value = await work
    } catch (error) {
      await stopped(this.#deps, running, error).catch(unwritten)
      throw error
    }
    await finalized(this.#deps, running, value).catch(unwritten)
    return value
  }

  /** Goes on with one that is open, once: two who ask at the same time get one run, and it begins when the last one is gone. */
  #goOn(sessionId: SessionId, id: string, by = muster): Promise<void> {
    return this.#starting.take(id, async () => {
      if (this.#running.has(id)) return
      await this.#inTime(this.#stopping.of(id))
      if (this.#stopping.has(id))
        throw new AppError('conflict', `${id} is still being stopped; try again in a moment`)
      const read = await readOpenFlow(this.#deps, sessionId, id)
      if (read) await this.#takeUp(read, by)
    })
  }

  /** Ends one that stands still. */
  #callOff(id: string, why: { readonly by: Asker; readonly reason: string }): Promise<Reached> {
    return this.#starting.take(id, async () => {
      if (this.#running.has(id)) return this.cancel(id, why)
      const [record] = await this.#deps.records(id)
      const read = record && (await readOpenFlow(this.#deps, record.sessionId, id))
      if (!read) return record ? 'finished' : 'unknown'
      await cancelled(this.#deps, read.running, why)
      this.#stopping.putAway(record)
      return 'delivered'
    })
  }

  async #takeUp({ running, input, phase }: OpenFlow, by: Asker): Promise<void> {
    const { engine, clock } = this.#deps
    const { id } = running
    const procedure = this.#deps.procedures.get(running.name)
    // What was begun under another version stays as it is, to be seen and to be forked.
    if (procedure?.version !== running.version) return
    const resumedAt = new Date(clock.now()).toISOString()
    const last = running.book.steps().at(-1)
    await engine.perform([
      draftOf(askedBy(rootOf(running, phase), by), 'workflow.checkpoint.resumed', {
        workflowId: id,
        phase,
        resumedAt,
        ...(last && { checkpointId: last }),
      }),
    ])
    this.#launch(running, procedure, input)
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

const unknownFlow = (id: string): AppError =>
  new AppError('not_found', `there is no workflow ${id}; sm workflow list shows them`)
