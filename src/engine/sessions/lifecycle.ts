import { completionScore } from '../../core/session/evidence/completion.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import { draftOf } from './drafts.ts'
import type { Parts } from './parts.ts'
import type { TranscriptFollower } from './transcript.ts'
import type { SessionWatch } from './watch.ts'

const messageChars = 300

/** What was said already of a session's present rest; a new turn clears it. */
type Told = { since: number; idle: boolean; asked: boolean }

/** Notices sessions that went idle, and those that look finished; what it concludes it writes once per rest. */
export class Lifecycle {
  readonly #parts: Parts
  readonly #told = new WeakMap<SessionWatch, Told>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async tick(
    { watch, transcript }: { watch: SessionWatch; transcript: TranscriptFollower },
    runningChildren: number,
  ): Promise<void> {
    const state = watch.state()
    const { verdict } = watch
    if (!state?.managed || hasEnded(state) || verdict.lifecycle !== 'idle' || verdict.since === undefined)
      return
    const told = this.#toldOf(watch, verdict.since)
    await this.#idle(watch, state, told)
    // What the record says last may contradict what a hook said first.
    await transcript.settled()
    await this.#finished(watch, { state, told, runningChildren })
  }

  #toldOf(watch: SessionWatch, since: number): Told {
    const known = this.#told.get(watch)
    if (known?.since === since) return known
    const told = { since, idle: false, asked: false }
    this.#told.set(watch, told)
    return told
  }

  async #idle(watch: SessionWatch, state: Readonly<SessionState>, told: Told): Promise<void> {
    const idleMs = this.#parts.clock.now() - told.since
    const { idle_after } = this.#parts.config().child_agents.auto_complete
    if (told.idle || idleMs < idle_after * 1000) return
    told.idle = true
    const agentId = state.managed?.name ?? 'agent'
    await watch.say([draftOf(watch.root, 'agent.idle', { agentId, idleMs: Math.round(idleMs) })])
  }

  async #finished(
    watch: SessionWatch,
    { state, told, runningChildren }: { state: Readonly<SessionState>; told: Told; runningChildren: number },
  ): Promise<void> {
    const { child_agents } = this.#parts.config()
    const completion = completionScore(
      {
        evidence: watch.evidence,
        verdict: watch.verdict,
        config: { ...child_agents, mode: state.managed?.lifecycleMode ?? child_agents.mode },
        runningChildren,
        ...watch.judgeOptions(),
      },
      this.#parts.clock.now(),
    )
    if (!completion.isComplete || told.asked) return
    told.asked = true
    const message = lastWords(watch)
    const why = completion.signs.map(({ says }) => says).join('; ')
    if (completion.needsApproval) {
      const approvalId = `apr_${this.#parts.ids.event().slice(4)}`
      await watch.say([
        draftOf(
          { ...watch.root, spanId: this.#parts.ids.span(), parentSpanId: watch.root.spanId },
          'approval.requested',
          {
            approvalId,
            subject: 'termination',
            action: `${state.managed?.name ?? 'the session'} looks finished: ${message}`,
            reason: why,
            risk: 'low',
            options: ['approve', 'reject'],
            ...(state.parentSessionId && { askedOf: state.parentSessionId }),
          },
        ),
      ])
      return
    }
    await watch.say([
      draftOf(watch.root, 'session.completed', {
        outcome: 'completed',
        message,
        reason: `it looks finished: ${why}`,
      }),
    ])
  }
}

function lastWords(watch: SessionWatch): string {
  const text = watch.evidence.marks.text?.text.trim() ?? ''
  const sentence = /^[\s\S]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text.split('\n', 1)[0] ?? ''
  return sentence.slice(0, messageChars)
}
