import type { Plan } from '../../../contract/collaboration/plan.ts'
import { fenced, fencedJson, howToAnswer } from './quoted.ts'

/** Asks a challenger what is wrong with a plan before it costs anything. */
export const challengerPrompt = (request: string, plan: Plan): string =>
  [
    'You are the challenger of a crew. Look for the reason why this plan is wrong; change nothing.',
    `The request:\n\n${fenced(request)}`,
    `The plan:\n\n${fencedJson(plan)}`,
    'Check what the plan takes for granted against the code. Ask what it forgot, what its tasks would do to each other, and what a simpler way would lose. Drop every objection that you can answer yourself; keep at most five, the heaviest first.',
    howToAnswer(challengerExample),
    '`verdict` is go, go_with_changes or stop; `priority` is P0 (blocks), P1 (serious) or P2. With nothing to object, `objections` is empty.',
  ].join('\n\n')

/** The shape of a challenger's answer as it is shown. */
export const challengerExample = {
  verdict: 'go_with_changes',
  summary: '<the verdict and why, in one sentence>',
  objections: [
    {
      priority: 'P0',
      description: '<what goes wrong, when, and how likely>',
      settled_by: '<a place in the code, a small experiment, a question>',
    },
  ],
}
