import type { Crew } from '../contract/crew.ts'
import { AppError } from '../contract/errors.ts'

/** What whoever starts a crew wants otherwise than its file says. */
export type CrewWishes = {
  readonly cli?: string | undefined
  readonly model?: string | undefined
  readonly max_iterations?: number | undefined
  readonly budget?: Crew['budget'] | undefined
  readonly approve_plan?: boolean | undefined
  readonly choices?: readonly string[] | undefined
}

/** A session asks people no less than the crew's file says, and gives itself no more than that. */
export function refuseLooserCrew(
  crew: Crew,
  { approve_plan, max_iterations, budget = {} }: CrewWishes,
): void {
  const most = crew.budget ?? {}
  const isMore = (['tokens', 'usd', 'minutes'] as const).some(
    (kind) => (budget[kind] ?? 0) > (most[kind] ?? Infinity),
  )
  if (
    (approve_plan === false && crew.approvePlan) ||
    isMore ||
    (max_iterations ?? 0) > crew.limits.maxIterations
  )
    throw new AppError(
      'denied',
      'a session starts a crew with the limits and questions of its file, or stricter ones; ask a person for more',
    )
}

/** What was asked for wins over what the crew's file says. */
export function withWishes(
  crew: Crew,
  { cli, model, max_iterations, budget, approve_plan, choices }: CrewWishes,
): Crew {
  if (choices && crew.vote?.on !== 'question')
    throw new AppError(
      'invalid',
      `the crew ${crew.name} does not vote on a question, so it takes no choices; use the pattern consensus`,
    )
  const filled = { ...(cli !== undefined && { cli }), ...(model !== undefined && { model }) }
  return {
    ...crew,
    members: crew.members.map((member) => ({ ...member, ...filled })),
    ...(max_iterations !== undefined && { limits: { ...crew.limits, maxIterations: max_iterations } }),
    ...(budget && { budget: { ...crew.budget, ...budget } }),
    ...(crew.vote && choices && { vote: { ...crew.vote, choices: [...choices] } }),
    ...(approve_plan !== undefined && { approvePlan: approve_plan }),
  }
}
