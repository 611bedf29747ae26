import { Plan } from '../../../contract/collaboration/plan.ts'
import { checkPlan, type PlanLimits } from '../check-plan.ts'
import { type Read, readReply } from './read-reply.ts'

/** The plan an architect ends its words with, when it can be carried out. */
export const readPlan = (words: string, limits: PlanLimits): Read<Plan> =>
  readReply(words, { schema: Plan, check: (plan) => checkPlan(plan, limits) })
