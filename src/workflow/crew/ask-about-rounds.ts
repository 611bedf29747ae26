import {
  type EscalationAnswer,
  escalationAnswers,
  escalationWords,
} from '../../core/collaboration/after-review.ts'
import { askPerson } from '../ask-person.ts'
import type { CrewRun } from './crew-run.ts'

type Asked = {
  /** How many rounds there were. */
  readonly number: number
  readonly action: string
  readonly reason?: string
  /** What one more round is, before its price. */
  readonly oneMore: string
}

/** Asks a person what becomes of work that the rounds were not enough for; each answer says what it does. */
export async function askAboutRounds(
  { flow, branch }: CrewRun,
  { number, action, reason, oneMore }: Asked,
): Promise<EscalationAnswer> {
  const each = Math.max(1, Math.round(flow.spent().tokens / Math.max(1, number) / 1000))
  const means: Readonly<Record<EscalationAnswer, string>> = {
    iterate: `${oneMore}; about ${each}k tokens`,
    force_approve: 'the work is approved with what is open, and you are asked to land it',
    abort: `nothing is landed; the work stays on ${branch}`,
  }
  const options = escalationAnswers.map((answer) => ({
    label: escalationWords[answer],
    description: means[answer],
  }))
  const decision = await askPerson(flow, `human-review-${number}`, {
    subject: 'plan',
    action,
    ...(reason !== undefined && { reason }),
    scope: [{ question: action, options, isMany: false }],
    risk: 'medium',
    options: options.map(({ label }) => label),
  })
  if (decision.verdict === 'deny') return 'abort'
  const [said] = Object.values(decision.answers ?? {})
  // What no answer names costs nothing.
  return escalationAnswers.find((answer) => said === escalationWords[answer]) ?? 'abort'
}
