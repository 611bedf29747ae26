import type { Detection } from '../../contract/events/session.ts'
import { completionScore, detectionRecord } from '../../core/session/evidence/completion.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import { draftOf } from './drafts.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'
import type { TranscriptFollower } from './transcript.ts'

const messageChars = 300

type Followed = {
  readonly watch: SessionWatch
  readonly transcript: Pick<TranscriptFollower, 'settled'>
}

/** How the end of a session is noticed: as it was asked for at its start, else as the file says now. */
export const modeOf = (parts: Parts, state: Readonly<SessionState> | undefined) =>
  state?.managed?.lifecycleMode ?? parts.config().child_agents.mode

/**
 * Notices sessions that went idle, and those that look finished. What was concluded once of a rest stands in the
 * state of the session, so that neither the next look nor a restart concludes it again.
 */
export class Lifecycle {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async tick({ watch, transcript }: Followed, runningChildren: number): Promise<void> {
    const state = watch.state()
    const { lifecycle, since } = watch.verdict
    const isIdle = lifecycle === 'idle' && watch.shown === 'idle'
    if (!state?.managed || hasEnded(state) || !isIdle || since === undefined) return
    if (modeOf(this.#parts, state) === 'manual') return
    await this.#idle(watch, state, since)
    // What the record says last may contradict what a hook said first.
    await transcript.settled()
    await this.#finished(watch, runningChildren)
  }

  async #idle(watch: SessionWatch, { notes, managed }: Readonly<SessionState>, since: number): Promise<void> {
    const idleMs = this.#parts.clock.now() - since
    const { idle_after } = this.#parts.config().child_agents.auto_complete
    if (notes?.isIdleTold || idleMs < idle_after * 1000) return
    const agentId = managed?.name ?? 'agent'
    await watch.say([draftOf(watch.root, 'agent.idle', { agentId, idleMs: Math.round(idleMs) })])
  }

  async #finished(watch: SessionWatch, runningChildren: number): Promise<void> {
    const state = watch.state()
    const isAsked = state?.asks?.some(({ subject }) => subject === 'termination')
    if (!state || hasEnded(state) || isAsked || state.notes?.isEndRefused) return
    const { child_agents } = this.#parts.config()
    const completion = completionScore(
      {
        evidence: watch.evidence,
        verdict: watch.verdict,
        config: { ...child_agents, mode: modeOf(this.#parts, state) },
        runningChildren,
        ...(state.notes?.milestone && { milestone: state.notes.milestone }),
        ...watch.judgeOptions(),
      },
      this.#parts.clock.now(),
    )
    if (!completion.isComplete) return
    const detected = detectionRecord(completion)
    if (completion.needsApproval) await this.#ask(watch, state, detected)
    else
      await watch.say([
        draftOf(watch.root, 'session.completed', {
          outcome: 'completed',
          message: lastWords(watch),
          reason: `it looks finished: ${whyOf(detected)}`,
          detected,
        }),
      ])
  }

  async #ask(watch: SessionWatch, state: Readonly<SessionState>, detected: Detection): Promise<void> {
    const { ids } = this.#parts
    const message = lastWords(watch)
    await watch.say([
      draftOf({ ...watch.root, spanId: ids.span(), parentSpanId: watch.root.spanId }, 'approval.requested', {
        approvalId: `apr_${ids.event().slice(4)}`,
        subject: 'termination',
        action: `${state.managed?.name ?? 'the session'} looks finished: ${message}`,
        reason: whyOf(detected),
        scope: { outcome: 'completed', message },
        risk: 'low',
        options: ['approve', 'reject'],
        detected,
        ...(state.parentSessionId && { askedOf: state.parentSessionId }),
      }),
    ])
  }
}

const whyOf = ({ evidence }: Detection): string => evidence.map(({ detail }) => detail).join('; ')

function lastWords(watch: SessionWatch): string {
  const text = watch.evidence.last.text?.text.trim() ?? ''
  const sentence = /^[\s\S]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text.split('\n', 1)[0] ?? ''
  return sentence.slice(0, messageChars)
}
