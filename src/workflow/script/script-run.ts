import { derivedSpan } from '../../contract/derived-ids.ts'
import { AppError } from '../../contract/errors.ts'
import type { SpanId } from '../../contract/ids.ts'
import { type ScriptCall, scriptHash } from '../../contract/script.ts'
import { sha256Hex } from '../../contract/sha256.ts'
import { refusalOf } from '../../core/delegation/delegation-outcome.ts'
import { refuseUncountedMoney } from '../../core/ledger/budget.ts'
import { workTime } from '../../engine/budgets.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import { type Flow, LimitReached } from '../../ports/durable.ts'
import type { ScriptAnswer, ScriptBudget } from '../../ports/scripts.ts'
import type { WorkEnd } from '../../ports/workers.ts'
import { Allowance } from '../allowance.ts'
import { askPerson } from '../ask-person.ts'
import { type Asked, agentAsked, voteAsked } from './agent-calls.ts'
import { Limits } from './limits.ts'
import { Phases } from './phases.ts'
import type { ScriptInput, ScriptParts } from './script-procedure.ts'

type Call<K extends ScriptCall['kind']> = Extract<ScriptCall, { kind: K }>
type Vote = { readonly verdict: 'supported' | 'refuted' | 'inconclusive'; readonly evidence: unknown }

/** How an agent ended, and what belongs to its answer: kept together, so that it is the same when it is read again. */
type Kept = {
  /** What was asked, to be known again. */
  readonly asked: string
  readonly end: WorkEnd
  readonly atMs: number
  readonly left: ScriptBudget
}

/** What was done before a run came to its end without a result. */
export type Partial = { readonly answers: Readonly<Record<string, unknown>>; readonly checkpoint?: unknown }

/** A script under way: answers what it asks for, each by a step under its path. */
export class ScriptRun {
  readonly #parts: ScriptParts
  readonly #flow: Flow
  readonly #input: ScriptInput
  readonly #limits: Limits
  readonly #allowance: Allowance
  readonly #phases: Phases
  readonly #stopped = new AbortController()
  readonly #working = new Set<Promise<unknown>>()
  /** Steps that nobody waits for, and that end before the run does. */
  readonly #loose = new Set<Promise<unknown>>()
  readonly #answers: Record<string, unknown> = {}
  #checkpoint: { readonly state: unknown } | undefined
  #nowMs: number

  constructor(
    parts: ScriptParts,
    flow: Flow,
    { input, approved }: { input: ScriptInput; approved: { readonly spanId: SpanId; readonly atMs: number } },
  ) {
    this.#parts = parts
    this.#flow = flow
    this.#input = input
    this.#nowMs = approved.atMs
    this.#allowance = new Allowance(parts, flow)
    this.#limits = new Limits(input.limits, {
      spent: () => flow.spent().tokens,
      over: (why) => this.#allowance.reached(why),
    })
    const inputCount = countOf(input.args)
    this.#phases = new Phases(flow, { names: input.meta.phases, under: approved.spanId, inputCount })
  }

  /** Runs the script to its end; one that is over a limit is stopped with all that works for it. */
  async run(): Promise<unknown> {
    const { scripts, clock } = this.#parts
    const { source, args, limits, unsafe } = this.#input
    const nowMs = this.#nowMs
    const over = new AbortController()
    if (limits.minutes !== undefined) {
      const { minutes } = limits
      const begunMs = await this.#flow.step('begun', async () => clock.now(), { again: true })
      const isWaiting = () => false
      workTime(clock, { untilMs: begunMs + minutes * 60_000, isWaiting }, over.signal).then(
        () => this.#allowance.late(minutes),
        () => {},
      )
    }
    const follow = () => this.#stopped.abort(this.#flow.signal.reason)
    this.#flow.signal.addEventListener('abort', follow, { once: true, signal: over.signal })
    const { over: reached } = this.#allowance
    reached.addEventListener('abort', () => this.#stopped.abort(reached.reason), { signal: over.signal })
    try {
      this.#flow.signal.throwIfAborted()
      // Money is whole here after a crash, too: what was spent by then is told with each answer, as it was before.
      const left = this.#limits.left(0)
      const value = await scripts.run(
        { source, args, nowMs, seed: this.#flow.id, left, isUnsafe: unsafe === scriptHash(source) },
        (call) => this.#answer(call),
        this.#stopped.signal,
      )
      await this.#ended()
      await this.#phases.end({ outputCount: countOf(value) })
      return value
    } catch (error) {
      if (this.#flow.signal.aborted) {
        // It has left when nobody works for it any more.
        await Promise.allSettled(this.#working)
        throw error
      }
      const text = error instanceof Error ? error.message : String(error)
      await this.#ended()
      await this.#phases.end({ outputCount: 0, error: text })
      if (error instanceof LimitReached) await this.#allowance.close(error)
      throw new AppError(error instanceof AppError ? error.code : 'failed', text, {
        cause: error,
        details: { partial: this.#partial() },
      })
    } finally {
      over.abort()
      this.#allowance[Symbol.dispose]()
    }
  }

  /** Nobody works on for a script that is gone. */
  async #ended(): Promise<void> {
    this.#stopped.abort(new AppError('conflict', 'the script has ended'))
    await Promise.allSettled([...this.#working, ...this.#loose])
  }

  #partial(): Partial {
    return { answers: this.#answers, ...(this.#checkpoint && { checkpoint: this.#checkpoint.state }) }
  }

  async #answer(call: ScriptCall): Promise<ScriptAnswer> {
    try {
      return await this.#answered(call)
    } catch (error) {
      // A refusal is the script's to catch; everything else ends it.
      if (!(error instanceof AppError) || error instanceof LimitReached || error instanceof OtherScript)
        throw error
      const { code, message } = error
      return { ...this.#now(), error: { code, message } }
    }
  }

  async #answered(call: ScriptCall): Promise<ScriptAnswer> {
    const flow = this.#flow
    switch (call.kind) {
      case 'agent':
        return this.#agent(call)
      case 'verify':
        return this.#verify(call)
      case 'approve':
        return this.#approve(call)
      case 'checkpoint': {
        const state = await flow.step(call.path, async () => call.state ?? null)
        this.#checkpoint = { state }
        return { ...this.#now(), value: state }
      }
      case 'phase':
        await this.#phases.begin(call)
        return { ...this.#now(), value: null }
      case 'phase-end':
        await this.#phases.end(call)
        return { ...this.#now(), value: null }
      case 'log':
        this.#log(call)
        return { ...this.#now(), value: null }
    }
  }

  /** What is not asked of an agent takes no time by the clock of the script. */
  #now(): Pick<ScriptAnswer, 'atMs' | 'left'> {
    return { atMs: this.#nowMs, left: { tokens: null, agents: null, usd: null } }
  }

  async #agent(call: Call<'agent'>): Promise<ScriptAnswer> {
    const asked = agentAsked(call, this.#input.meta.writes ?? [])
    const { end, atMs, left } = await this.#work(call, asked)
    const said = end.status === 'completed' ? asked.read(end.text) : undefined
    if (said && 'value' in said) {
      this.#phases.answered()
      this.#answers[call.path] = said.value
      return { atMs, left, value: said.value }
    }
    const error = said
      ? {
          code: 'invalid' as const,
          message: `its answer does not match the schema: ${said.problems.join('; ')}`,
        }
      : end.status === 'timeout'
        ? { code: 'timeout' as const, message: end.reason ?? 'it took too long' }
        : { code: 'failed' as const, message: end.reason ?? 'it failed' }
    return { atMs, left, error: { ...error, message: `${call.path}: ${error.message}` } }
  }

  async #verify(call: Call<'verify'>): Promise<ScriptAnswer> {
    const asked = voteAsked(call)
    const { id, by } = call.claim
    const kept = await this.#work(call, asked)
    const { verdict, evidence } = voteOf(asked, kept.end)
    await this.#flow.step(
      `${call.path}:verdict`,
      async ({ tell }) => {
        const root = this.#flow.root()
        const place = {
          ...root,
          spanId: this.#spanOf(`${call.path}:verdict`),
          parentSpanId: this.#phases.spanId,
        }
        tell(
          draftOf({ ...place, actor: asked.name }, 'claim.verified', {
            findingId: id,
            verifierAgentId: asked.name,
            verdict,
            evidence,
            ...(by !== undefined && { sourceAgentId: by }),
          }),
        )
      },
      { again: true },
    )
    const { atMs, left } = kept
    return { atMs, left, value: { verdict, evidence, by: asked.name } }
  }

  /** Has an agent do something, once; it is known again by its path. */
  async #work(call: Call<'agent' | 'verify'>, asked: Asked): Promise<Kept> {
    const flow = this.#flow
    const { path } = call
    refuseUncountedMoney(this.#input.limits.usd, this.#parts.prices, [
      { ...asked, cli: asked.cli ?? this.#input.cli },
    ])
    this.#limits.asks()
    const digest = digestOf(call)
    const step = flow.step<Kept>(path, async ({ isAgain, count }) => {
      const end = await this.#limits.within(() => this.#worked(path, asked, isAgain))
      // Its answer is kept, also when a limit has ended the script by now.
      this.#await(step)
      count({ tokens: end.tokens })
      const left = this.#limits.left(await this.#spentUsd())
      const tokens = left.tokens === null ? null : Math.max(0, left.tokens - end.tokens)
      return { asked: digest, end, atMs: this.#parts.clock.now(), left: { ...left, tokens } }
    })
    const kept = await step
    if (kept.asked !== digest)
      throw new OtherScript(
        `${call.line ?? path}: it asks for something else at ${path} than before the interruption; use parallel or pipeline for parallel calls`,
      )
    // One that an earlier version kept says nothing of money.
    return { ...kept, left: { ...kept.left, usd: kept.left.usd ?? null } }
  }

  /** As far as it was told by now; a price that nobody gave is none. */
  async #spentUsd(): Promise<number> {
    if (this.#input.limits.usd === undefined) return 0
    return (await this.#parts.budgets.used(this.#flow.root().sessionId)).usd ?? 0
  }

  async #worked(path: string, asked: Asked, isAgain: boolean): Promise<WorkEnd> {
    const flow = this.#flow
    const { cli, workspace, meta } = this.#input
    const { read, cli: own = cli, ...rest } = asked
    const { signal } = this.#stopped
    if (signal.aborted) return forever()
    const work = this.#allowance.run(
      {
        ...rest,
        cli: own,
        root: flow.root(),
        spanId: this.#spanOf(path),
        parentSpanId: this.#phases.spanId,
        workspace,
        tools: meta.tools,
        isAgain,
        refuse: refusalOf(read),
      },
      signal,
    )
    this.#working.add(work)
    try {
      const end = await work
      const isKept = signal.reason instanceof LimitReached && end.status === 'completed'
      return signal.aborted && !isKept ? await forever() : end
    } catch (error) {
      // What was stopped has not failed, and is not written down: it has no outcome.
      if (signal.aborted) return await forever()
      throw error
    } finally {
      this.#working.delete(work)
    }
  }

  async #approve({ path, question, options }: Call<'approve'>): Promise<ScriptAnswer> {
    const decision = await askPerson(this.#flow, path, {
      subject: 'workflow',
      action: question,
      ...(options && { options }),
    })
    if (decision.verdict === 'deny')
      return { ...this.#now(), value: { approved: false, answer: decision.reason ?? null } }
    const answer = Object.values(decision.answers ?? {})[0] ?? null
    return { ...this.#now(), value: { approved: true, answer } }
  }

  #log({ path, text }: Call<'log'>): void {
    const root = this.#flow.root()
    const place = { ...root, spanId: this.#spanOf(path), parentSpanId: this.#phases.spanId }
    const told = this.#flow.step(
      path,
      async ({ tell }) => tell(draftOf(place, 'progress.checkpoint', { message: text })),
      { again: true },
    )
    this.#await(told)
  }

  #await(step: Promise<unknown>): void {
    const settled = step.then(
      () => {},
      () => {},
    )
    this.#loose.add(settled)
    void settled.then(() => this.#loose.delete(settled))
  }

  #spanOf(path: string): SpanId {
    return derivedSpan(`${this.#flow.id} ${path}`)
  }
}

/** It is not the script that began: what it asks for cannot be found again. */
class OtherScript extends AppError {
  constructor(message: string) {
    super('conflict', message)
  }
}

const countOf = (value: unknown): number =>
  Array.isArray(value) ? value.length : value === undefined || value === null ? 0 : 1

const forever = () => new Promise<never>(() => {})

function voteOf(asked: Asked, end: WorkEnd): Vote {
  const said = end.status === 'completed' ? asked.read(end.text) : undefined
  if (said && 'value' in said) return said.value as Vote
  const why = said ? said.problems.join('; ') : (end.reason ?? end.status)
  return { verdict: 'inconclusive', evidence: `the verifier gave no answer: ${why}` }
}

const digestOf = ({ path: _path, line: _line, ...call }: Call<'agent' | 'verify'>): string =>
  sha256Hex(JSON.stringify(call)).slice(0, 32)
