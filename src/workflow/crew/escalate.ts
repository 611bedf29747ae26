import type { CrewRound } from '../../contract/collaboration/crew-report.ts'
import { type EscalationAnswer, escalationAnswers } from '../../core/collaboration/after-review.ts'
import { settledFindings } from '../../core/collaboration/crew-report.ts'
import { type Decision } from '../../core/delegation/task-failure.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow } from '../../ports/durable.ts'
import { askPerson } from '../ask-person.ts'

/** Asks a person what becomes of work that the rounds were not enough for. */
export async function askAboutRound(
  flow: Flow,
  { number, rounds }: { readonly number: number; readonly rounds: readonly CrewRound[] },
): Promise<EscalationAnswer> {
  const open = settledFindings(rounds).open.map(({ severity, description }) => `${severity}: ${description}`)
  const decision = await askPerson(flow, `human-review-${number}`, {
    subject: 'plan',
    action: `No rounds are left and the work is not approved: ${rounds.at(-1)?.summary ?? ''}`,
    reason: open.join('\n'),
    risk: 'medium',
    options: [...escalationAnswers],
  })
  if (decision.verdict === 'deny') return 'abort'
  const [said] = Object.values(decision.answers ?? {})
  return escalationAnswers.find((answer) => answer === said) ?? 'iterate'
}

/** What is done at the limit is a decision like any other. */
export async function recordEscalation(
  flow: Flow,
  { name, by, decision }: { readonly name: string; readonly by: string; readonly decision: Decision },
): Promise<void> {
  await flow.step(name, async ({ tell }) => {
    const { subject, choice, reason, candidates } = decision
    tell(
      draftOf({ ...flow.root(), actor: by }, 'decision.made', {
        subject,
        choice,
        reason,
        candidates: [...candidates],
      }),
    )
  })
}
