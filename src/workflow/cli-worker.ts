import type { AgentCliName } from '../contract/config/names.ts'
import { derivedIds } from '../contract/derived-ids.ts'
import { AppError } from '../contract/errors.ts'
import type { SessionId } from '../contract/ids.ts'
import { withSignal } from '../contract/linked.ts'
import { muster } from '../contract/principal.ts'
import { approvalFacts, PausedTime } from '../core/approvals/open-approvals.ts'
import { oneScope } from '../core/delegation/globs.ts'
import { lateReason, workTime } from '../engine/budgets.ts'
import type { Engine } from '../engine/engine.ts'
import type { Live, Sessions } from '../engine/sessions/sessions.ts'
import type { Clock } from '../ports/clock.ts'
import { FlowStopped, LimitReached } from '../ports/durable.ts'
import type { ReadObserved } from '../ports/facts.ts'
import type { Undelivered, Work, WorkEnd, Workers } from '../ports/workers.ts'
import { CliTurns, repairOf } from './cli-turns.ts'
import type { FactWaits } from './fact-waits.ts'

export type CliWorkerDeps = {
  readonly engine: Engine
  readonly clock: Clock
  readonly waits: FactWaits
  readonly sessions: () => Promise<Sessions>
  readonly events: ReadObserved
  /** The whole text of a body, also of one that is kept elsewhere. */
  readonly text: (body: unknown) => Promise<string>
  /** What a session has used, in tokens. */
  readonly tokens: (sessionId: SessionId) => Promise<number>
}

/** A program that starts has taken its prompt by then; while it waits for a person the clock stands still. */
const takenMs = 3 * 60_000

/** After a restart so long nobody is late: what was done meanwhile is not all known yet. */
const graceMs = 60_000

/** Why one was ended that has not taken its prompt; by these words it is known again after a crash. */
const untakenReason = 'it did not accept its prompt'

type Ended = Pick<WorkEnd, 'status' | 'text' | 'reason' | 'undelivered' | 'isSpent'>
type Followed = {
  readonly sessionId: SessionId
  /** When its time is over, as far as is known. */
  readonly untilMs: number
  readonly turns: CliTurns
}

/** Agent programs at the work of workflows: each is a session of its own below that of the workflow. */
export class CliWorker implements Workers {
  readonly #deps: CliWorkerDeps

  constructor(deps: CliWorkerDeps) {
    this.#deps = deps
  }

  async run(work: Work, signal: AbortSignal): Promise<WorkEnd> {
    const { clock, engine } = this.#deps
    const sessionId = derivedIds(`${work.root.workflowId} ${work.spanId}`, 0).session
    using turns = new CliTurns(
      { ...this.#deps, session: (id) => this.#deps.engine.session(id) },
      { sessionId, parentRunId: work.root.runId },
    )
    const { taken } = work
    // Who wants to know is told in time, not only at the end; what goes wrong with that is the work's failure.
    const told = taken && turns.taken.then(taken)
    told?.catch(() => {})
    try {
      const known = await engine.known(sessionId)
      if (!known) await this.#spawn(work, sessionId, signal)
      const startedMs = known?.managed?.startedAtMs ?? clock.now()
      const untilMs = known ? await this.#untilMs(work, sessionId, startedMs) : startedMs + work.timeoutMs
      const end = await this.#ended(work, { sessionId, untilMs, turns }, signal).catch((error: unknown) => {
        // What a limit stops is told what it used.
        if (!(error instanceof LimitReached)) throw error
        return { status: 'failed' as const, text: '', reason: error.message, isSpent: true }
      })
      if (turns.hasPrompt) await told
      return {
        ...end,
        durationMs: Math.max(0, clock.now() - startedMs),
        tokens: await this.#deps.tokens(sessionId),
      }
    } finally {
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
        asker: { ...muster, name: work.root.actor },
        parent: parent as never,
        sessionId,
        task: {
          agentId: work.name,
          parentSpanId: work.parentSpanId,
          parentRunId: work.root.runId,
          ...(work.root.workflowId !== undefined && { workflowId: work.root.workflowId }),
          ...(work.root.phase !== undefined && { phase: work.root.phase }),
          resultSchema: work.resultSchema,
          ...(work.taskId !== undefined && { taskId: work.taskId }),
          ...(work.about !== undefined && { about: work.about }),
        },
        ...scopeOf(work),
        ...(work.tools && { tools: work.tools }),
      },
      signal,
    )
  }

  /** When the time is over of one that was begun before: what it waited for a person does not count. */
  async #untilMs(work: Work, sessionId: SessionId, startedMs: number): Promise<number> {
    const standstill = new PausedTime()
    for await (const event of this.#deps.events(sessionId, approvalFacts)) standstill.take(event)
    const now = this.#deps.clock.now()
    const stoodMs = standstill.ms(now, { isAway: false })
    return Math.max(startedMs + stoodMs + work.timeoutMs, now + Math.min(graceMs, work.timeoutMs))
  }

  /** Waits for the turn that answers; an answer that cannot be taken is asked for once more. */
  async #ended(work: Work, followed: Followed, signal: AbortSignal): Promise<Ended> {
    const { sessionId, turns } = followed
    const over = new AbortController()
    const reason = lateReason(work)
    let text = ''
    try {
      await withSignal(turns.known, signal)
      const late = this.#late(followed, over.signal)
      for (let n = 0; ; n++) {
        const end = await withSignal(Promise.race([turns.at(n), late]), signal)
        // It may have been ended for that before a crash.
        if (end === 'late' || (end !== 'untaken' && end.killed === reason)) {
          await this.#endSession(sessionId, { isKilled: true, reason })
          return { status: 'timeout', text, reason }
        }
        if (end === 'untaken' || end.killed === untakenReason)
          return this.#untaken(followed, 'timeout', untakenReason)
        text = (await this.#deps.text(end.said)) || text
        if (end.undelivered !== undefined) return this.#untaken(followed, end.undelivered, text)
        if (!end.isOver) await (await this.#live(sessionId))?.transcript.answered(signal)
        const wrong = end.isGood && n === 0 ? work.refuse?.(text) : undefined
        if (wrong !== undefined && !end.isOver && (await this.#repair(work, { turns, sessionId, wrong })))
          continue
        await this.#endSession(sessionId, { isKilled: false, message: work.brief?.(text) })
        return end.isGood
          ? { status: 'completed', text }
          : { status: 'failed', text, reason: text || 'it failed' }
      }
    } finally {
      over.abort()
    }
  }

  /** Its time is over, or it has not even taken its prompt. */
  #late({ sessionId, untilMs, turns }: Followed, signal: AbortSignal): Promise<'late' | 'untaken'> {
    const { clock, engine } = this.#deps
    const isWaiting = () => (engine.session(sessionId)?.asks?.length ?? 0) > 0
    const never = new Promise<never>(() => {})
    const late = workTime(clock, { untilMs, isWaiting }, signal).then(() => 'late' as const)
    // From now on, however long nobody watched: what it took meanwhile is read first.
    const untaken = workTime(clock, { untilMs: clock.now() + takenMs, isWaiting }, signal).then(() => {
      // A program of the user's own shows nothing of what it takes.
      const isOwn = engine.session(sessionId)?.managed?.cli === 'custom'
      return isOwn || turns.hasPrompt ? never : ('untaken' as const)
    })
    return Promise.race([late, untaken]).catch(() => never)
  }

  /** Nothing of it may go on: the work will be given to another, unless it was taken while it was ended. */
  async #untaken({ sessionId, turns }: Followed, undelivered: Undelivered, reason: string): Promise<Ended> {
    await this.#endSession(sessionId, { isKilled: true, reason: untakenReason })
    return turns.hasPrompt
      ? { status: 'failed', text: '', reason: 'it accepted its prompt only when it was already being ended' }
      : { status: 'failed', text: '', reason: reason || untakenReason, undelivered }
  }

  async #live(sessionId: SessionId): Promise<Live | undefined> {
    return (await this.#deps.sessions()).settled(sessionId)
  }

  /** Asks for a better answer, once, also after a crash; false when there is nobody to ask. */
  async #repair(
    work: Work,
    { turns, sessionId, wrong }: { turns: CliTurns; sessionId: SessionId; wrong: string },
  ): Promise<boolean> {
    const messageId = repairOf(sessionId)
    // Before anything else: its session may have ended with the better answer.
    if (await turns.wasSaid(messageId)) return true
    const live = await this.#live(sessionId)
    const sessions = await this.#deps.sessions()
    if (!live || !sessions.isRunning(sessionId)) return false
    await sessions.send(live, { text: wrong, mode: 'sequential', from: work.root.actor, messageId })
    return true
  }

  /** Until its last process is gone: what it might still change would not be collected, nor its last words counted. */
  async #endSession(
    sessionId: SessionId,
    { isKilled, message, reason = 'its work has ended' }: Ending,
  ): Promise<void> {
    const sessions = await this.#deps.sessions()
    const live = await this.#live(sessionId)
    if (!live) return
    if (!isKilled) await sessions.complete(live, { status: 'completed', message, by: muster }).catch(() => {})
    const { done } = await sessions.ends.kill(live, { force: isKilled, by: muster, reason })
    await done
  }
}

type Ending = {
  readonly isKilled: boolean
  readonly message?: string | undefined
  readonly reason?: string
}

/** A program is held to one list of globs. */
function scopeOf({ scopes }: Work): { readonly scope?: readonly string[] } {
  if (scopes.every((globs) => globs.length === 0)) return {}
  const scope = oneScope(scopes)
  if (scope) return { scope }
  const words = scopes.map((globs) => globs.join(', ')).join(' and in ')
  throw new AppError(
    'invalid',
    `it cannot be told what is in ${words}; give a scope that is inside the other`,
  )
}

/** Who plays the part, and at what. */
function nameOf({ name, taskId }: Work): { name?: string } {
  const text = taskId === undefined ? name : `${name}-${taskId}`
  const allowed = text.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64)
  return allowed === '' ? {} : { name: allowed }
}

const isForDaemon = ({ reason }: AbortSignal): boolean =>
  reason instanceof FlowStopped && reason.how === 'daemon'
