import type { Call } from './calls.ts'
import type { Evidence } from './evidence.ts'
import { latest, type Mark, timeOf } from './mark.ts'
import type { Moment } from './moment.ts'
import { openCalls } from './open-calls.ts'
import type { Turn } from './turn.ts'
import type { State } from './verdict.ts'

/** The state of a session with an open turn: it decays when nothing is seen of it any more. */
export function runningState(
  evidence: Evidence,
  turn: Extract<Turn, { state: 'open' }>,
  moment: Moment,
): { readonly state: State; readonly by: readonly Mark[] } {
  const { marks } = evidence
  const { patience, aged } = moment
  const calls = openCalls(evidence, moment)
  const progress = latest<Mark>([...ownSteps(evidence), marks.agent, marks.compacted]) ?? turn.sign
  const seen = latest<Mark>([turn.sign, progress, marks.queued]) ?? turn.sign
  const by = [...turn.by, seen, ...calls.flatMap(({ start }) => (start ? [start] : []))]
  const retry = retryMark(evidence, moment)
  const running = (health: State['health']): State => ({
    lifecycle: 'running',
    activity: activityOf(evidence, calls, retry),
    health,
  })
  if (!aged(seen.at, calls.length > 0 ? patience.callMs : patience.freshMs)) {
    if (retry) return { state: running('retrying'), by: [...by, retry] }
    const isStuck = aged(progress.at, calls.length > 0 ? patience.stuckCallMs : patience.stuckMs)
    return { state: running(isStuck ? 'stuck' : 'ok'), by }
  }
  if (calls.length > 0) return { state: running(aged(seen.at, patience.stuckCallMs) ? 'stuck' : 'stale'), by }
  const isIdle = aged(seen.at, Math.max(moment.idleAfterMs, patience.freshMs))
  return { state: isIdle ? { lifecycle: 'idle', activity: 'idle', health: 'stale' } : running('stale'), by }
}

const ownSteps = ({ marks }: Evidence): readonly (Mark | undefined)[] => [
  marks.prompt,
  marks['tool-start'],
  marks['tool-end'],
  marks.text,
  marks.response,
]

/** What shows that a request to the model is being repeated; no hook tells it. */
function retryMark(evidence: Evidence, moment: Moment): Mark | undefined {
  const { marks } = evidence
  const screens = [marks['screen-working'], marks['screen-calm'], marks['screen-dialog']]
  const screen = latest(screens)
  const step = latest(ownSteps(evidence))
  if (screen?.retry && screen.at > timeOf(step)) return screen
  const told = marks.retrying
  const isShownOver = timeOf(screen) > timeOf(told) + moment.patience.settleMs
  return told && told.at > timeOf(step) && !isShownOver ? told : undefined
}

function activityOf({ marks }: Evidence, calls: readonly Call[], retry: Mark | undefined): State['activity'] {
  if (calls.length > 0) return 'calling_tool'
  if (retry) return 'thinking'
  const asked = Math.max(timeOf(marks.prompt), timeOf(marks['tool-end']))
  const answered = Math.max(timeOf(marks.text), timeOf(marks.response))
  return asked > answered ? 'thinking' : 'working'
}
