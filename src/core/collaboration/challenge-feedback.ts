import type { ChallengerReply } from '../../contract/collaboration/replies.ts'

/** What a challenger says about a plan, as the message that its architect gets. */
export const challengeFeedback = ({ verdict, summary, objections }: ChallengerReply) => ({
  feedback_type: verdict === 'go' ? ('guidance' as const) : ('correction' as const),
  subject: 'plan',
  content: [summary, ...objections.map(({ priority, description }) => `- ${priority}: ${description}`)].join(
    '\n',
  ),
  action_required: verdict !== 'go',
})
