import type { AgentCliName } from '../contract/config/names.ts'
import { AppError } from '../contract/errors.ts'
import type { AgentEvent } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import { derivedIds } from '../core/session-log/derived-ids.ts'
import { ends } from '../core/trace/end-types.ts'
import type { Engine } from '../engine/engine.ts'
import type { Live, Sessions } from '../engine/sessions/sessions.ts'
import type { Clock } from '../ports/clock.ts'
import { FlowStopped, LimitReached } from '../ports/durable.ts'
import type { Work, WorkEnd, Workers } from '../ports/workers.ts'
import type { FactWaits } from './fact-waits.ts'
import { withSignal } from './local/book.ts'
import { workTime } from './work-time.ts'

export type CliWorkerDeps = {
  readonly engine: Engine
  readonly clock: Clock
  readonly waits: FactWaits
  readonly sessions: () => Promise<Sessions>
  readonly events: (sessionId: SessionId, types: readonly AgentEvent['type'][]) => AsyncIterable<AgentEvent>
  /** The whole text of a body, also of one that is kept elsewhere. */
  readonly text: (body: unknown) => Promise<string>
  /** What a session has used, in tokens. */
  readonly tokens: (sessionId: SessionId) => Promise<number>
}

/** How a turn of a program came to its end, or its session did. */
type TurnEnd = { readonly isGood: boolean; readonly said: unknown; readonly isOver: boolean }

/** Agent programs at the work of workflows: each is a session of its own below that of the workflow. */
export class CliWorker implements Workers {
  readonly #deps: CliWorkerDeps

  constructor(deps: CliWorkerDeps) {
    this.#deps = deps
  }

  async run(work: Work, signal: AbortSignal): Promise<WorkEnd> {
    const { clock, engine } = this.#deps
    const sessionId = derivedIds(`${work.root.workflowId} ${work.spanId}`, 0).session
    const turns = this.#turns(sessionId)
    try {
      const known = await engine.known(sessionId)
      if (!known) await this.#spawn(work, sessionId, signal)
      const startedMs = known?.managed?.startedAtMs ?? clock.now()
      const end = await this.#ended(work, { sessionId, startedMs, turns }, signal).catch((error: unknown) => {
        // What a limit stops is told what it used.
        if (!(error instanceof LimitReached)) throw error
        return { status: 'failed' as const, text: '', reason: error.message }
      })
      return {
        ...end,
        durationMs: Math.max(0, clock.now() - startedMs),
        tokens: await this.#deps.tokens(sessionId),
      }
    } finally {
      turns.stop()
      if (signal.aborted && !isForDaemon(signal)) await this.#endSession(sessionId, { isKilled: true })
    }
  }

  async #spawn(work: Work, sessionId: SessionId, signal: AbortSignal): Promise<void> {
    const parent = this.#deps.engine.session(work.root.sessionId)
    if (!parent) throw new AppError('conflict', 'the session of this workflow has ended')
    const sessions = await this.#deps.sessions()
    await sessions.spawn(
      {
        agent_type: work.agent,
        cli: work.cli as AgentCliName,
        prompt: work.prompt,
        working_dir: work.workspace,
        permission_mode: 'acceptEdits',
        mode: 'manual',
        ...nameOf(work),
        ...(work.model && { model: work.model }),
      },
      {
        actor: work.root.actor,
        parent: parent as never,
        sessionId,
        task: {
          agentId: work.name,
          parentSpanId: work.parentSpanId,
          workflowId: work.root.workflowId,
          ...(work.taskId !== undefined && { taskId: work.taskId }),
          ...(work.about !== undefined && { about: work.about }),
        },
        ...(work.scope.length > 0 && { scope: work.scope }),
        ...(work.tools && { tools: work.tools }),
      },
      signal,
    )
  }

  /** Waits for the turn that answers; an answer that cannot be taken is asked for once more. */
  async #ended(
    work: Work,
    { sessionId, startedMs, turns }: { sessionId: SessionId; startedMs: number; turns: Turns },
    signal: AbortSignal,
  ): Promise<Pick<WorkEnd, 'status' | 'text' | 'reason'>> {
    const { clock, engine } = this.#deps
    const over = new AbortController()
    const isWaiting = () => (engine.session(sessionId)?.asks?.length ?? 0) > 0
    const until = { untilMs: startedMs + work.timeoutMs, isWaiting }
    const late = workTime(clock, until, over.signal).then(
      () => 'late' as const,
      () => new Promise<never>(() => {}),
    )
    let text = ''
    try {
      for (let n = 0; ; n++) {
        const end = await withSignal(Promise.race([turns.at(n), late]), signal)
        if (end === 'late') {
          await this.#endSession(sessionId, { isKilled: true })
          return { status: 'timeout', text, reason: `it took longer than ${work.timeoutMs / 60_000} min` }
        }
        text = (await this.#deps.text(end.said)) || text
        if (!end.isOver) await (await this.#live(sessionId))?.transcript.answered(signal)
        const wrong = end.isGood && n === 0 ? work.refuse?.(text) : undefined
        if (wrong !== undefined && !end.isOver && (await this.#say(sessionId, wrong, work))) continue
        await this.#endSession(sessionId, { isKilled: false, message: work.brief?.(text) })
        return end.isGood
          ? { status: 'completed', text }
          : { status: 'failed', text, reason: text || 'it failed' }
      }
    } finally {
      over.abort()
    }
  }

  async #live(sessionId: SessionId): Promise<Live | undefined> {
    return (await this.#deps.sessions()).settled(sessionId)
  }

  async #say(sessionId: SessionId, text: string, work: Work): Promise<boolean> {
    const sessions = await this.#deps.sessions()
    const live = await this.#live(sessionId)
    if (!live) return false
    await sessions.send(live, { text, mode: 'sequential', from: work.root.actor })
    return true
  }

  /** Until its last process is gone: what it might still change would not be collected, nor its last words counted. */
  async #endSession(sessionId: SessionId, { isKilled, message }: Ending): Promise<void> {
    const sessions = await this.#deps.sessions()
    const live = await this.#live(sessionId)
    if (!live) return
    if (!isKilled) await sessions.complete(live, { status: 'completed', message }).catch(() => {})
    const { done } = await sessions.kill(live, { force: isKilled, by: 'muster', reason: 'its work is over' })
    await done
  }

  #turns(sessionId: SessionId): Turns {
    const turns: TurnEnd[] = []
    const seen = new Set<number>()
    let wake = Promise.withResolvers<void>()
    const take = (event: AgentEvent) => {
      const end = turnEnd(event)
      if (!end || seen.has(event.seq)) return
      seen.add(event.seq)
      turns.push(end)
      wake.resolve()
      wake = Promise.withResolvers()
    }
    const listening = this.#deps.waits.listen(sessionId, take)
    // What ended before it was listened for is in the journal; what ends meanwhile comes both ways.
    const past = (async () => {
      for await (const event of this.#deps.events(sessionId, ends)) take(event)
    })()
    past.catch(() => {})
    return {
      async at(n) {
        await past
        while (turns.length <= n) await wake.promise
        return turns[n] as TurnEnd
      },
      stop: () => listening[Symbol.dispose](),
    }
  }
}

type Ending = { readonly isKilled: boolean; readonly message?: string | undefined }

/** Who plays the part, and at what. */
function nameOf({ name, taskId }: Work): { name?: string } {
  const text = taskId === undefined ? name : `${name}-${taskId}`
  const allowed = text.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64)
  return allowed === '' ? {} : { name: allowed }
}

type Turns = { at(n: number): Promise<TurnEnd>; stop(): void }

function turnEnd(event: AgentEvent): TurnEnd | undefined {
  if (event.type === 'session.completed' || event.type === 'session.failed') {
    const { message, reason } = event.payload
    const isGood = event.type === 'session.completed' && event.payload.outcome === 'completed'
    return { isGood, said: message ?? reason, isOver: true }
  }
  // Agents that it started itself end turns of their own.
  if (!event.type.startsWith('agent.') || event.parentRunId !== undefined) return undefined
  const said = 'detail' in event.payload ? event.payload.detail : undefined
  return { isGood: event.type === 'agent.completed', said, isOver: false }
}

const isForDaemon = ({ reason }: AbortSignal): boolean =>
  reason instanceof FlowStopped && reason.how === 'daemon'
