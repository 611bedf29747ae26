import type { Plan } from '../../contract/collaboration/plan.ts'
import type { ChallengerReply } from '../../contract/collaboration/replies.ts'

/** A plan as the message by which its challenger gets it. */
export const planFeedback = (plan: Plan) => ({
  feedback_type: 'question' as const,
  subject: 'plan',
  content: JSON.stringify(plan, null, 2),
  action_required: true,
})

/** What a challenger says about a plan, as the message that its architect gets. */
export const challengeFeedback = (reply: ChallengerReply) => ({
  feedback_type: reply.verdict === 'go' ? ('guidance' as const) : ('correction' as const),
  subject: 'plan',
  content: challengeWords(reply),
  action_required: reply.verdict !== 'go',
})

/** All that a challenger holds against a plan: the architect is shown what the message says, and nothing beside it. */
export const challengeWords = ({ summary, objections }: ChallengerReply): string =>
  [
    summary,
    ...objections.map(({ priority, description, settled_by: settled }) =>
      [`- ${priority}: ${description}`, ...(settled ? [`  Settled by: ${settled}`] : [])].join('\n'),
    ),
  ].join('\n')
