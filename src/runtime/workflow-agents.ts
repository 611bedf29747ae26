import type { AgentDefinition } from '../contract/agent-definition.ts'
import { AppError } from '../contract/errors.ts'
import type { AgentEvent } from '../contract/event.ts'
import { muster } from '../contract/principal.ts'
import { findAgent } from '../core/definitions/find-definition.ts'
import { narrowTools } from '../core/delegation/allowed-tools.ts'
import { tokenTotal } from '../core/ledger/model-usage.ts'
import { type OpenSpan, type SessionState, spanKey } from '../core/session/state.ts'
import { agentEndTypes } from '../core/trace/span-endings.ts'
import { lateReason } from '../engine/budgets.ts'
import type { Clock } from '../ports/clock.ts'
import type { Work, WorkEnd, Workers } from '../ports/workers.ts'
import { loadHistory } from './history.ts'
import { closeCutOff, closeLeft, soFar, tidyCutOff } from './interrupted-runs.ts'
import { LiveRun } from './live-run.ts'
import type { RunPlan } from './perform-run.ts'
import { lastWords, performWork, type WorkRun } from './perform-work.ts'
import type { Questions } from './questions.ts'
import type { RuntimeParts } from './runtime-parts.ts'
import { runtimePlan } from './runtime-plan.ts'
import { WorkNotes } from './tools/runtime-tool.ts'
import { leftOpen, workflowTurn } from './workflow-turn.ts'

type End = Extract<AgentEvent, { type: (typeof agentEndTypes)[number] }>

const isEnd = (event: AgentEvent): event is End => agentEndTypes.some((type) => type === event.type)

/** What a run is begun or gone on with. */
type Beginning = Pick<WorkRun, 'run' | 'begins' | 'messages' | 'kept' | 'turns' | 'stoodMs' | 'seen'>

const recentMs = 1000

type Taken = { readonly work: Work; readonly agent: AgentDefinition }

/** Built-in agents at the work of workflows: each is a run of the workflow's session. */
export class WorkflowAgents implements Workers {
  readonly #parts: RuntimeParts
  readonly #questions: Questions
  readonly #runs = new Set<LiveRun>()

  constructor(parts: RuntimeParts, questions: Questions) {
    this.#parts = withMemory(parts)
    this.#questions = questions
  }

  /** Those that are under way. */
  runs(): LiveRun[] {
    return [...this.#runs]
  }

  async run(work: Work, signal: AbortSignal): Promise<WorkEnd> {
    const { engine } = this.#parts
    const state = engine.session(work.root.sessionId)
    if (!state) throw new AppError('conflict', 'the session of this workflow has ended')
    if (work.isTurn) return this.#turn(work, state, signal)
    const left = state.open.get(spanKey(state, { ...work.root, spanId: work.spanId }))
    const ended = !left && work.isAgain ? await this.#ended(work) : undefined
    if (ended) return ended
    const { agents, agent } = await this.#agentFor(work, signal)
    await work.taken?.()
    const beginning = left ? await this.#takenUp({ work, agent }, left) : this.#begun({ work, agent })
    return this.#perform(work, { ...beginning, agents }, signal)
  }

  async #agentFor(work: Work, signal: AbortSignal) {
    const agents = await this.#parts.agents(work.workspace, signal)
    const role = findAgent(agents, work.agent)
    return { agents, agent: { ...role, tools: narrowTools(role.tools, work.tools) } }
  }

  /** A turn in the run of the workflow itself; after a crash its time begins anew. */
  async #turn(
    { refuse, ...work }: Work,
    state: Readonly<SessionState>,
    signal: AbortSignal,
  ): Promise<WorkEnd> {
    const parts = this.#parts
    const { root, parentSpanId, spanId: turn } = work
    if (work.isAgain)
      await closeLeft(parts.engine, state, leftOpen(state, { runId: root.runId, place: parentSpanId }))
    const { messages, kept, isFurther, before } = await workflowTurn(parts, {
      ...work,
      ...(refuse && { refuse }),
    })
    const { agents, agent } = await this.#agentFor(work, signal)
    await work.taken?.()
    const run = new LiveRun({
      root: { ...root, spanId: parentSpanId, actor: work.name },
      parentSpanId,
      agent,
      agentId: work.name,
      startedMs: parts.clock.now(),
      resultSchema: work.resultSchema,
      turn,
    })
    for (const call of before?.calls ?? []) run.used(call)
    const answer = before?.answer
    if (answer !== undefined) {
      const tokens = tokenTotal(run.usage)
      return { status: 'completed', text: answer, tokens, isFurther, durationMs: 0 }
    }
    const end = await this.#perform(
      { ...work, ...(refuse && !before?.isRefused && { refuse }) },
      {
        run,
        begins: before ? 'resumed' : [],
        messages,
        kept,
        turns: before?.calls.length ?? 0,
        stoodMs: 0,
        agents,
      },
      signal,
    )
    return { ...end, isFurther }
  }

  async #perform(
    work: Work,
    { agents, ...beginning }: Beginning & Pick<RunPlan, 'agents'>,
    signal: AbortSignal,
  ): Promise<WorkEnd> {
    const parts = this.#parts
    const questions = this.#questions
    const { run } = beginning
    const { workspace, scopes } = work
    const plan = runtimePlan({
      parts,
      run,
      notes: new WorkNotes(),
      depth: 1,
      scopes,
      workspace,
      agents,
      questions,
      // The gates refuse all of these to whoever works for another.
      talk: never,
      tell: never,
      handOver: never,
    })
    this.#runs.add(run)
    try {
      return await performWork(
        { parts, questions },
        { work, given: { ...beginning, ...plan, agents }, signal },
      )
    } finally {
      this.#runs.delete(run)
    }
  }

  #begun({ work, agent }: Taken): Beginning {
    const { ids, clock } = this.#parts
    const run = liveRun({ work, agent }, { runId: ids.run(), startedMs: clock.now() })
    return { run, begins: [], messages: [{ role: 'user', text: work.prompt }], kept: 0, stoodMs: 0 }
  }

  /** Goes on with a run that a stopped daemon left. */
  async #takenUp({ work, agent }: Taken, span: OpenSpan): Promise<Beginning> {
    const parts = this.#parts
    const { sessionId } = work.root
    const state = parts.engine.session(sessionId)
    if (state) await closeCutOff(parts.engine, state, span)
    const { runId } = span
    const { messages, kept } = await loadHistory(parts, { sessionId, runId })
    const { startedMs, stoodMs, turns, calls, seenBefore, seen } = await tidyCutOff(parts, {
      sessionId,
      runId,
      workspace: work.workspace,
    })
    const run = liveRun({ work, agent }, { runId, startedMs, seenBefore })
    for (const call of calls) run.used(call)
    return messages.length > 0
      ? { run, begins: 'resumed', messages, kept, turns, stoodMs, seen }
      : { run, begins: 'resumed', messages: [{ role: 'user', text: work.prompt }], kept: 0, stoodMs, seen }
  }

  /** How it ended, when it ended before the crash and nobody had taken note. */
  async #ended(work: Work): Promise<WorkEnd | undefined> {
    const parts = this.#parts
    const { root, spanId } = work
    let isSpent = false
    for await (const event of parts.events(root.sessionId, [...agentEndTypes, 'budget.exceeded'])) {
      if (event.spanId !== spanId) continue
      if (event.type === 'budget.exceeded') isSpent = true
      if (!isEnd(event)) continue
      const { sessionId } = root
      const { messages } = await loadHistory(parts, { sessionId, runId: event.runId })
      const { calls, seen } = await soFar(parts, sessionId, event.runId)
      const tokens = calls.reduce((sum, { usage }) => sum + tokenTotal(usage), 0)
      const text = lastWords(messages)
      const durationMs = event.payload.durationMs ?? 0
      if (event.type === 'agent.completed') return { status: 'completed', text, tokens, durationMs, seen }
      const { reason } = event.payload
      const isLate =
        event.type === 'agent.cancelled' && event.payload.by === muster.name && reason === lateReason(work)
      return {
        status: isLate ? 'timeout' : 'failed',
        text,
        reason,
        ...(isSpent && { isSpent }),
        tokens,
        durationMs,
        seen,
      }
    }
    return undefined
  }
}

/** Agents of one workflow begin one after the other: none needs to look again at what the one before has seen. */
function withMemory(parts: RuntimeParts): RuntimeParts {
  const agents = new Recent<readonly AgentDefinition[]>(parts.clock, recentMs)
  const models = new Recent<Awaited<ReturnType<RuntimeParts['models']['list']>>>(parts.clock, recentMs)
  return {
    ...parts,
    agents: (workspace, signal) => agents.get(workspace, () => parts.agents(workspace, signal)),
    models: {
      ...parts.models,
      open: (ref) => parts.models.open(ref),
      list: (signal) => models.get('', () => parts.models.list(signal)),
    },
  }
}

function liveRun(
  { work, agent }: Taken,
  { runId, ...begun }: Pick<LiveRun, 'runId' | 'startedMs'> & Partial<Pick<LiveRun, 'seenBefore'>>,
): LiveRun {
  const { taskId, name } = work
  return new LiveRun({
    root: {
      ...work.root,
      runId,
      parentRunId: work.root.runId,
      spanId: work.spanId,
      actor: name,
      ...(taskId !== undefined && { taskId }),
    },
    parentSpanId: work.parentSpanId,
    agent,
    agentId: name,
    resultSchema: work.resultSchema,
    ...begun,
  })
}

const never = async (): Promise<never> => {
  throw new Error('an agent that works for another neither delegates nor speaks')
}

const mostKeys = 100

/** What was found a moment ago is given again, where many look for the same one after the other; a failure is not. */
export class Recent<V> {
  readonly #clock: Clock
  readonly #ms: number
  readonly #found = new Map<string, { readonly untilMs: number; readonly value: V }>()

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#ms = ms
  }

  async get(key: string, find: () => Promise<V>): Promise<V> {
    const known = this.#found.get(key)
    if (known && this.#clock.monotonic() < known.untilMs) return known.value
    const value = await find()
    if (this.#found.size >= mostKeys) this.#found.clear()
    this.#found.set(key, { untilMs: this.#clock.monotonic() + this.#ms, value })
    return value
  }
}
