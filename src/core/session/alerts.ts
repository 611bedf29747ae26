import type { SessionView } from '../../contract/session-views.ts'
import { type Evidence, timeOf } from './evidence/evidence.ts'
import type { Verdict } from './evidence/verdict.ts'
import type { Typical } from './typical.ts'

type Alert = SessionView['alerts'][number]

/** What an alert is made of; only a session that has not ended can raise one. */
export type AlertParts = {
  readonly verdict: Verdict | undefined
  readonly evidence: Evidence | undefined
  readonly tokens: number
  readonly typical: Typical | undefined
}

const sameFailures = 3
const runawayTimes = 3

/** What looks wrong with a session, each with its evidence. */
export function alertsOf({ verdict, evidence, tokens, typical }: AlertParts): Alert[] {
  const failing = evidence && failingCall(evidence)
  const isRunaway = typical !== undefined && tokens > typical.tokens * runawayTimes
  return [
    ...(failing ? [failing] : []),
    ...(verdict?.health === 'stuck'
      ? [{ kind: 'no_progress' as const, evidence: verdict.because[0]?.says ?? 'nothing has moved' }]
      : []),
    ...(isRunaway
      ? [{ kind: 'runaway' as const, evidence: `${tokens} tokens; ${typical.basis} took ${typical.tokens}` }]
      : []),
  ]
}

/** The same call, failed several times in a row. */
function failingCall({ calls }: Evidence): Alert | undefined {
  const ended = calls
    .filter(({ end, agent }) => end !== undefined && agent === undefined)
    .toSorted((a, b) => timeOf(b.end) - timeOf(a.end))
  const [last] = ended
  let count = 0
  for (const { tool, inputHash, isFailed } of ended) {
    if (!isFailed || tool !== last?.tool || inputHash !== last?.inputHash) break
    count += 1
  }
  if (count < sameFailures) return undefined
  return {
    kind: 'failing',
    evidence: `${last?.tool ?? 'a tool'} failed ${count} times in a row with the same input`,
  }
}
