import { conclude, type DerivedState } from './conclude.ts'
import type { Evidence } from './evidence.ts'
import { type Reason, type Sign, signsOf, wouldChange } from './explain.ts'
import { type JudgeOptions, timingAt } from './timeouts.ts'

/** A state with its reasons, and when it stops holding by itself. */
export type Verdict = DerivedState & {
  readonly confidence: 'high' | 'medium' | 'low'
  /** Since when it has been so, as far as is known. */
  readonly since?: number
  /** The most weighty first. */
  readonly because: readonly Reason[]
  /** Without any further signal the verdict becomes `becomes` at this time. */
  readonly until?: number
  readonly becomes?: DerivedState
}

/** What state a session is in, why, and when that stops being so without further signals. */
export function judge(evidence: Evidence, options: JudgeOptions): Verdict {
  return judged(evidence, options).verdict
}

/** A verdict laid open: every sign there is, which of them counted, and what would change it. */
export type Explanation = {
  readonly verdict: Verdict
  readonly signs: readonly (Reason & { readonly counted: boolean })[]
  readonly wouldChange: readonly string[]
}

/** Why a session is thought to be in its state. */
export function explain(evidence: Evidence, options: JudgeOptions): Explanation {
  const { verdict, signs } = judged(evidence, options)
  return {
    verdict,
    signs: signs.map(({ reason, counted }) => ({ ...reason, counted })),
    wouldChange: wouldChange(verdict, options.now),
  }
}

/** The verdict, and every sign with whether it counted. */
function judged(
  evidence: Evidence,
  options: JudgeOptions,
): { readonly verdict: Verdict; readonly signs: readonly (Sign & { readonly counted: boolean })[] } {
  const { state, by, since } = conclude(evidence, timingAt(options))
  const signs = signsOf(evidence, options.now).map((sign) => ({
    ...sign,
    counted: by.includes(sign.sighting),
  }))
  const because = signs.filter(({ counted }) => counted).map(({ reason }) => reason)
  const verdict: Verdict = {
    ...state,
    confidence: confidenceOf(state, because[0]?.source),
    ...(since !== undefined && { since }),
    because,
    ...expiry(evidence, options, state),
  }
  return { verdict, signs }
}

function confidenceOf(state: DerivedState, source: string | undefined): Verdict['confidence'] {
  if (state.health === 'stale' || source === undefined) return 'low'
  return source === 'pane' || source === 'process' ? 'medium' : 'high'
}

// Each step is one time at which some rule changes its mind; a verdict has far fewer of them than this.
const mostSteps = 32

/** The first time at which the state becomes another one. */
function expiry(
  evidence: Evidence,
  options: JudgeOptions,
  state: DerivedState,
): Pick<Verdict, 'until' | 'becomes'> {
  let now = options.now
  for (let step = 0; step < mostSteps; step++) {
    const timing = timingAt({ ...options, now })
    const next = conclude(evidence, timing)
    if (!isSame(next.state, state)) return { until: now, becomes: next.state }
    const due = timing.nextChange()
    if (due === undefined || due <= now) return {}
    now = due
  }
  return {}
}

const isSame = (a: DerivedState, b: DerivedState): boolean =>
  a.lifecycle === b.lifecycle &&
  a.activity === b.activity &&
  a.health === b.health &&
  a.waitingFor === b.waitingFor &&
  a.waitingUntil === b.waitingUntil
