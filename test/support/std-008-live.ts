import fc from 'fast-check'
import type * as z from 'zod'
import type { AgentEvent, Catalogue, EventOf, EventType } from '../../src/contract/event.ts'
import type { RunId, SessionId, SpanId } from '../../src/contract/ids.ts'
import { EventStream, runIdOf, sessionIdOf, spanIdOf } from './events.ts'

type PayloadInputOf<T extends EventType> = z.input<Catalogue[T]['payload']>

/** Whose events are written: a run with a span, perhaps below another. */
export type LiveRun = {
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly spanId: SpanId
  readonly parentRunId?: RunId
  readonly parentSpanId?: SpanId
  readonly agentId: string
}

type End = 'completed' | 'failed' | 'cancelled' | 'killed' | 'abandoned'

/** Writes the events of a session tree as a daemon would, one second apart. */
export class LiveSession {
  readonly stream = new EventStream()
  readonly main: LiveRun
  #spans = 0
  #runs = 0

  constructor(started: PayloadInputOf<'session.started'> = {}) {
    this.main = { sessionId: sessionIdOf(1), runId: this.#run(), spanId: this.#span(), agentId: 'main' }
    this.add(this.main, 'session.started', {
      title: 'Add login',
      prompt: 'Add login',
      model: 'model-1',
      ...started,
    })
  }

  get events(): AgentEvent[] {
    return this.stream.events
  }

  add<T extends EventType>(run: LiveRun, type: T, payload: PayloadInputOf<T>, spanId?: SpanId): EventOf<T> {
    const { agentId, ...place } = run
    const below = spanId === undefined ? {} : { spanId, parentSpanId: run.spanId }
    return this.stream.add(type, payload, { ...place, ...below, actor: agentId })
  }

  /** A call that has ended, unless told otherwise; answers its span. */
  call(
    run: LiveRun,
    call: {
      id: string
      tool: string
      params?: Record<string, unknown>
      end?: 'completed' | 'failed' | 'open'
    },
  ): SpanId {
    const span = this.#span()
    this.add(run, 'tool.call.started', { callId: call.id, tool: call.tool, params: call.params ?? {} }, span)
    const ended = { callId: call.id, tool: call.tool }
    if (call.end === 'failed') this.add(run, 'tool.call.failed', { ...ended, error: 'it broke' }, span)
    else if (call.end !== 'open') this.add(run, 'tool.call.completed', ended, span)
    return span
  }

  /** Starts an agent below a run; `callId` names the delegating call, when there is one. */
  spawn(
    parent: LiveRun,
    agent: Partial<PayloadInputOf<'agent.spawned'>> & { callId?: string; callSpan?: SpanId },
  ): LiveRun {
    const { callId, callSpan, ...payload } = agent
    const run: LiveRun = {
      sessionId: parent.sessionId,
      runId: this.#run(),
      spanId: this.#span(),
      parentRunId: parent.runId,
      parentSpanId: callSpan ?? parent.spanId,
      agentId: payload.agentId ?? `agent-${this.#runs}`,
    }
    this.add(run, 'agent.spawned', {
      agentType: 'developer',
      ...payload,
      agentId: run.agentId,
      ...(callId === undefined ? {} : { triggeredByCallId: callId }),
    })
    return run
  }

  end(run: LiveRun, how: End, payload: Partial<PayloadInputOf<'agent.failed'>> = {}): void {
    this.add(run, `agent.${how}`, { agentId: run.agentId, ...payload } as PayloadInputOf<'agent.completed'>)
  }

  /** Delegates by a Task call that lasts as long as the agent, which does some calls and ends. */
  delegate(
    parent: LiveRun,
    job: {
      id: string
      tool?: string
      agent: Partial<PayloadInputOf<'agent.spawned'>>
      calls?: string[]
      end?: End
      output?: unknown
    },
  ): LiveRun {
    const span = this.#span()
    const tool = job.tool ?? 'Task'
    this.add(parent, 'tool.call.started', { callId: job.id, tool, params: { prompt: 'do it' } }, span)
    const run = this.spawn(parent, { ...job.agent, callId: job.id, callSpan: span })
    for (const [i, name] of (job.calls ?? []).entries())
      this.call(run, { id: `${job.id}-${i}`, tool: name, params: { file_path: `${name}-${i}.ts` } })
    this.end(run, job.end ?? 'completed', job.output === undefined ? {} : { output: job.output })
    this.add(parent, 'tool.call.completed', { callId: job.id, tool }, span)
    return run
  }

  complete(outcome: 'completed' | 'cancelled' | 'killed' | 'abandoned' = 'completed'): void {
    this.add(this.main, 'session.completed', { outcome })
  }

  #span = (): SpanId => spanIdOf(this.#spans++)
  #run = (): RunId => runIdOf(++this.#runs)
}

/** What a reviewer says of a task. */
export const verdictOn = (task_id: string, verdict: string, review_id = `review-${task_id}`) => ({
  review_id,
  task_id,
  verdict,
  findings: [],
  verification: { tests_passed: true, type_check_passed: true },
  summary: 'looked at it',
})

const tool = fc.constantFrom('Read', 'Write', 'Edit', 'Bash', 'Grep', 'TodoWrite', 'mcp__db__query', '测试')
const job = fc.record({
  tool: fc.constantFrom('Task', 'Agent', 'delegate_to_agent'),
  type: fc.constantFrom('developer', 'Explore', 'tester', 'general-purpose', '研究员'),
  calls: fc.array(tool, { maxLength: 4 }),
  end: fc.constantFrom<End>('completed', 'failed', 'cancelled', 'killed', 'abandoned'),
  isReviewed: fc.boolean(),
  verdict: fc.constantFrom('approved', 'changes_requested', 'rejected'),
  nested: fc.boolean(),
})

/** Sane live sessions: an agent works, delegates by any tool name, has some of it reviewed, and ends or goes on. */
export const liveSessions: fc.Arbitrary<AgentEvent[]> = fc
  .record({
    title: fc.string({ unit: 'binary', maxLength: 80 }),
    own: fc.array(tool, { maxLength: 25 }),
    jobs: fc.array(job, { maxLength: 4 }),
    isEnded: fc.boolean(),
    agent: fc.constantFrom('architect', 'lead', 'developer'),
    pattern: fc.constantFrom('master_worker', 'consensus', 'pipeline'),
  })
  .map(({ title, own, jobs, isEnded, agent, pattern }) => {
    const main = { agentId: 'boss', agentType: agent }
    const collaboration = {
      mode: 'multi_agent' as const,
      pattern: pattern as 'pipeline',
      orchestrator: main,
      participants: [],
    }
    const live = new LiveSession({ title, agent: main, collaboration })
    own.forEach((name, i) =>
      live.call(live.main, {
        id: `tool-${i}`,
        tool: name,
        params: { file_path: `f${i % 3}.ts`, command: 'ls' },
      }),
    )
    jobs.forEach((each, i) => {
      const task = { taskId: `task-${i}`, description: 'work' }
      const run = live.delegate(live.main, {
        id: `job-${i}`,
        tool: each.tool,
        agent: { agentId: `worker-${i}`, agentType: each.type, task },
        calls: each.calls,
        end: each.end,
      })
      if (each.nested)
        live.delegate(live.main, {
          id: `again-${i}`,
          agent: { agentId: run.agentId, agentType: each.type, task },
          calls: ['Read'],
        })
      if (each.isReviewed)
        live.delegate(live.main, {
          id: `look-${i}`,
          agent: {
            agentId: 'judge',
            agentType: 'reviewer',
            task: { taskId: `check-${i}`, description: 'look' },
          },
          calls: ['Read'],
          output: verdictOn(`task-${i}`, each.verdict, `review-${i}`),
        })
    })
    if (isEnded) live.complete()
    return live.events
  })
