import { conclude } from './conclude.ts'
import type { Evidence } from './evidence.ts'
import { momentOf } from './moment.ts'
import type { JudgeOptions } from './patience.ts'
import { type Sign, signsOf } from './reasons.ts'
import type { State, Verdict } from './verdict.ts'

/** What state a session is in, why, and when that stops being so without further signals. */
export function judge(evidence: Evidence, options: JudgeOptions): Verdict {
  return judged(evidence, options).verdict
}

/** The verdict, and every sign with whether it counted. */
export function judged(
  evidence: Evidence,
  options: JudgeOptions,
): { readonly verdict: Verdict; readonly signs: readonly (Sign & { readonly counted: boolean })[] } {
  const { state, by, since } = conclude(evidence, momentOf(options))
  const signs = signsOf(evidence, options.now).map((sign) => ({ ...sign, counted: by.includes(sign.mark) }))
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

function confidenceOf(state: State, source: string | undefined): Verdict['confidence'] {
  if (state.health === 'stale' || source === undefined) return 'low'
  return source === 'pane' || source === 'process' ? 'medium' : 'high'
}

// Each step is one time at which some rule changes its mind; a verdict has far fewer of them than this.
const mostSteps = 32

/** The first time at which the state becomes another one. */
function expiry(evidence: Evidence, options: JudgeOptions, state: State): Pick<Verdict, 'until' | 'becomes'> {
  let now = options.now
  for (let step = 0; step < mostSteps; step++) {
    const moment = momentOf({ ...options, now })
    const next = conclude(evidence, moment)
    if (!isSame(next.state, state)) return { until: now, becomes: next.state }
    const due = moment.next()
    if (due === undefined || due <= now) return {}
    now = due
  }
  return {}
}

const isSame = (a: State, b: State): boolean =>
  a.lifecycle === b.lifecycle &&
  a.activity === b.activity &&
  a.health === b.health &&
  a.waitingFor === b.waitingFor &&
  a.waitingUntil === b.waitingUntil
