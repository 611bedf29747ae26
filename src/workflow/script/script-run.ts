import { derivedSpan } from '../../contract/derived-ids.ts'
import { AppError } from '../../contract/errors.ts'
import type { SpanId } from '../../contract/ids.ts'
import { type ScriptCall, scriptHash } from '../../contract/script.ts'
import { sha256Hex } from '../../contract/sha256.ts'
import { refuseUncountedMoney } from '../../core/ledger/budget.ts'
import { workTime } from '../../engine/budgets.ts'
import type { Conversation } from '../../engine/delegation/conversation.ts'
import { type Delegated, delegate } from '../../engine/delegation/delegate.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import { type Flow, LimitReached, NotTheSame, type Steps } from '../../ports/durable.ts'
import type { ScriptAnswer, ScriptBudget } from '../../ports/scripts.ts'
import type { Work, WorkEnd } from '../../ports/workers.ts'
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

type Worked = Pick<ScriptAnswer, 'atMs' | 'left'> & { readonly done: Delegated }

const progressMs = 30_000

/** What was done before a run came to its end without a result. */
export type Partial = { readonly answers: Readonly<Record<string, unknown>>; readonly checkpoint?: unknown }

type Beginning = {
  readonly input: ScriptInput
  readonly approved: { readonly spanId: SpanId; readonly atMs: number }
  readonly talk: Conversation
}

/** A script under way: answers what it asks for, each by a step under its path. */
export class ScriptRun {
  readonly #parts: ScriptParts
  readonly #flow: Flow
  readonly #input: ScriptInput
  readonly #talk: Conversation
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

  constructor(parts: ScriptParts, flow: Flow, { input, approved, talk }: Beginning) {
    this.#parts = parts
    this.#flow = flow
    this.#input = input
    this.#talk = talk
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
      if (!(error instanceof AppError) || error instanceof LimitReached || error instanceof NotTheSame)
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
    const asked = agentAsked(call, this.#input.meta)
    const { done, atMs, left } = await this.#work(call, asked)
    const { failure, end } = done
    if (!failure || (done.output && end?.status === 'completed')) {
      // Who was given an input is answered by the output that counts, also when the task was not done.
      const value = done.output ?? done.value
      this.#phases.answered()
      this.#answers[call.path] = value
      return { atMs, left, value }
    }
    const code = end?.status === 'completed' ? 'invalid' : end?.status === 'timeout' ? 'timeout' : 'failed'
    return { atMs, left, error: { code, message: `${call.path}: ${failure.error}` } }
  }

  async #verify(call: Call<'verify'>): Promise<ScriptAnswer> {
    const asked = voteAsked(call, this.#input.meta)
    const { id, by } = call.claim
    const { done, atMs, left } = await this.#work(call, asked)
    const { verdict, evidence } = voteOf(done)
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
    return { atMs, left, value: { verdict, evidence, by: asked.name } }
  }

  /** Has an agent do something, once; it is known again by its path. */
  async #work(call: Call<'agent' | 'verify'>, asked: Asked): Promise<Worked> {
    const { path } = call
    const cli = asked.cli ?? this.#input.cli
    refuseUncountedMoney(this.#input.limits.usd, this.#parts.prices, [{ ...asked, cli }])
    this.#limits.asks()
    const flow = this.#flow
    const { clock, onBug } = this.#parts
    const { agent, name: agentId, model, cli: _cli, ...given } = asked
    const answer: { kept?: Kept } = {}
    const steps = this.#stepsOf(call, answer, () => this.#await(work))
    const work = delegate(
      {
        clock,
        onBug,
        talk: this.#talk,
        workers: { run: (one) => this.#limits.within(() => this.#worked(one)) },
        roundsAt: () => flow.root(),
      },
      steps,
      {
        ...given,
        name: path,
        from: { agentId: flow.root().actor, agentType: 'workflow' },
        to: { agentId, role: agent, agent, cli, model },
        place: { kind: 'shared', folder: this.#input.workspace },
        parentSpanId: this.#phases.spanId,
        progressMs,
      },
    )
    const done = await work
    const { kept } = answer
    // Who was never reached has used nothing.
    if (!kept) return { done, ...this.#now() }
    // One that an earlier version kept says nothing of money.
    return { done, atMs: kept.atMs, left: { ...kept.left, usd: kept.left.usd ?? null } }
  }

  /** The steps of one call: with the end of its agent is kept what belongs to the answer, and what was asked. */
  #stepsOf(call: Call<'agent' | 'verify'>, answer: { kept?: Kept }, ended: () => void): Steps {
    const flow = this.#flow
    const { path } = call
    const digest = digestOf(call)
    return {
      id: flow.id,
      signal: this.#stopped.signal,
      root: () => flow.root(),
      sleep: (name, ms) => flow.sleep(name, ms),
      step: async (name, act, options) => {
        if (name !== path && !name.startsWith(`${path}-try`)) return flow.step(name, act, options)
        const kept = await flow.step<Kept>(
          name,
          async (given) => {
            const end = (await act(given)) as WorkEnd
            // Its answer is kept, also when a limit has ended the script by now.
            ended()
            const left = this.#limits.left(await this.#spentUsd())
            const tokens = left.tokens === null ? null : Math.max(0, left.tokens - end.tokens)
            return { asked: digest, end, atMs: this.#parts.clock.now(), left: { ...left, tokens } }
          },
          options,
        )
        if (kept.asked !== digest)
          throw new NotTheSame(
            `${call.line ?? path}: it asks for something else at ${path} than before the interruption; use parallel or pipeline for parallel calls`,
          )
        answer.kept = kept
        return kept.end as never
      },
    }
  }

  /** As far as it was told by now; a price that nobody gave is none. */
  async #spentUsd(): Promise<number> {
    if (this.#input.limits.usd === undefined) return 0
    return (await this.#parts.budgets.used(this.#flow.root().sessionId)).usd ?? 0
  }

  async #worked(given: Work): Promise<WorkEnd> {
    const { signal } = this.#stopped
    if (signal.aborted) return forever()
    const work = this.#allowance.run(given, signal)
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

const countOf = (value: unknown): number =>
  Array.isArray(value) ? value.length : value === undefined || value === null ? 0 : 1

const forever = () => new Promise<never>(() => {})

function voteOf({ value, failure, end }: Delegated): Vote {
  if (!failure) return value as Vote
  const why = failure.error || end?.reason || 'it failed'
  return { verdict: 'inconclusive', evidence: `the verifier gave no answer: ${why}` }
}

const digestOf = ({ path: _path, line: _line, ...call }: Call<'agent' | 'verify'>): string =>
  sha256Hex(JSON.stringify(call)).slice(0, 32)
