import type { CrewRound } from '../../contract/collaboration/crew-report.ts'
import type { ChallengerReply, Plan, PlanTask, RoundAction } from '../../contract/collaboration/replies.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import { endOf, fenced, fencedJson, howToAnswer } from '../delegation/prompt-parts.ts'
import { findingWords } from '../delegation/reviewer-work.ts'
import type { FailureKind } from '../delegation/task-failure.ts'

type Asked = {
  readonly request: string
  readonly maxTasks: number
  /** Names of earlier tasks, which new ones cannot have. */
  readonly taken?: readonly string[]
  /** What the project is known to be checked with. */
  readonly checks?: readonly string[]
}

/** Asks an architect for a plan. */
export const planPrompt = (asked: Asked): string =>
  ['You are the architect of a crew. Plan this request; do not change any file.', ...planParts(asked)].join(
    '\n\n',
  )

type Rejected = Asked & {
  readonly round: CrewRound
  readonly findings: readonly ReviewFinding[]
}

/** Asks an architect for another plan, because the work that came of the last one was rejected. */
export const replanPrompt = ({ round, findings, ...asked }: Rejected): string =>
  [
    `You are the architect of a crew. The reviewer rejected the work on this request: the approach itself is wrong. Plan again; do not change any file. The rejected work is in this work tree. Its files may be changed or deleted by the new tasks.`,
    `What the reviewer said:\n\n${fenced([round.summary, ...findings.map(findingWords)].join('\n'))}`,
    ...planParts(asked),
  ].join('\n\n')

/** Asks an architect for its plan again, with what a challenger holds against it. */
export const challengedPlanPrompt = (objections: ChallengerReply): string =>
  [
    'A challenger has looked for what is wrong with your plan. Fix the plan where the objections are right; where one does not, say why in `notes`.',
    fenced(challengeWords(objections)),
    'Answer again with the whole JSON object of the plan, in the same shape, and nothing after it.',
  ].join('\n\n')

function planParts({ request, maxTasks, taken = [], checks = [] }: Asked): string[] {
  return [
    `The request:\n\n${fenced(request)}`,
    `Read the code that the request touches first: entry points, tests, conventions, how it is built and tested. Then choose the smallest change that fulfils the whole request, and cut it into at most ${maxTasks} ${maxTasks === 1 ? 'task' : 'tasks'}; one task is best when the work is small.`,
    [
      'Rules that are enforced:',
      '- Each task goes to a developer who sees only that task, in its own work tree.',
      '- `scope` lists globs, relative to the project. A developer can change nothing else, so include the tests.',
      '- Two tasks that may run at the same time must not be able to change the same file. Where they must, make one a hard dependency of the other.',
      '- A hard dependency waits until the other task is complete, and sees its work. A soft one may start once the other has begun, and does not see its work.',
      '- `checks` are commands that are run in the project to prove the whole work. Name only commands that work here; leave out what the project has not.',
      '- When a developer is done, `checks.type_check` and, unless `testing_required` is false, `checks.test` are run in its work tree, which has its own work and that of its hard dependencies. A task that cannot pass them without another one needs that one as a hard dependency.',
      ...(taken.length === 0 ? [] : [`- These names are taken: ${taken.join(', ')}.`]),
      ...(checks.length === 0
        ? []
        : [`- These commands are known to check the project: ${checks.join('; ')}.`]),
    ].join('\n'),
    howToAnswer(planExample),
    'Only `notes`, `checks`, `depends_on`, `priority`, `testing_required`, `reference_files` and `specs` may be left out. `priority` is high, medium or low; the type of a dependency is hard or soft.',
  ]
}

/** The shape of a plan as an architect is shown it. */
const planExample = {
  summary: '<what will be true afterwards, and the approach>',
  tasks: [
    {
      task_id: 'parse-dates',
      title: '<one line>',
      description: '<what must be true afterwards, and all that the developer has to know>',
      scope: ['src/dates/**', 'test/dates.test.ts'],
      depends_on: [],
      acceptance_criteria: ['<how one can tell that it is done>'],
      priority: 'medium',
      testing_required: true,
      reference_files: ['src/format.ts'],
    },
    {
      task_id: 'use-dates',
      title: '<one line>',
      description: '<…>',
      scope: ['src/report.ts'],
      depends_on: [{ task_id: 'parse-dates', type: 'hard' }],
      acceptance_criteria: ['<…>'],
    },
  ],
  checks: {
    test: 'npm test',
    type_check: 'npx tsc --noEmit',
    custom: [{ name: 'lint', command: 'npm run lint' }],
  },
  notes: '<decisions, what you left out, what you could not find out>',
}

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
const challengerExample = {
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
const challengeWords = ({ summary, objections }: ChallengerReply): string =>
  [
    summary,
    ...objections.map(({ priority, description, settled_by: settled }) =>
      [`- ${priority}: ${description}`, ...(settled ? [`  Settled by: ${settled}`] : [])].join('\n'),
    ),
  ].join('\n')

type Split = {
  readonly task: PlanTask
  readonly why: string
  /** Names that the parts cannot have. */
  readonly taken: readonly string[]
}

/** Asks an architect to cut a task that is too large into smaller ones. */
export const splitPrompt = ({ task, why, taken }: Split): string =>
  [
    `You are the architect of a crew. The task ${task.task_id} is too large for one developer: ${why}. Cut it into smaller tasks that together do all of it; do not change any file.`,
    fencedJson(task),
    [
      'Rules that are enforced:',
      '- The scopes of the new tasks must be within the scope of this one.',
      '- Two tasks that may run at the same time must not be able to change the same file. Where they must, make one a hard dependency of the other.',
      '- What this task waited for the new ones wait for too; name only dependencies between the new ones.',
      `- These names are taken: ${taken.join(', ')}.`,
    ].join('\n'),
    howToAnswer({ summary: planExample.summary, tasks: planExample.tasks }),
  ].join('\n\n')

type Failed = {
  readonly task: PlanTask
  readonly kind: FailureKind
  readonly attempt: number
  readonly error: string
}

const mostError = 3000

/** Asks an architect what to do about a task that failed. */
export const failurePrompt = ({ task, kind, attempt, error }: Failed): string =>
  [
    `You are the architect of a crew. Attempt ${attempt} at the task ${task.task_id} failed (${kind}). Decide what to do; do not change any file.`,
    fencedJson(task),
    `What was reported:\n\n${fenced(endOf(error, mostError))}`,
    howToAnswer(failureExample),
    '`action` is retry (the same task again), reassign (the same task to another developer), split (it is too large; you will be asked for smaller tasks) or abort (the collaboration ends without it).',
  ].join('\n\n')

/** The shape of a decision as an architect is shown it. */
const failureExample = { action: 'retry', reason: '<why>' }

type ReviewedWork = {
  readonly request: string
  readonly round: CrewRound
  readonly findings: readonly ReviewFinding[]
  /** What the rules would do. */
  readonly usual: RoundAction
  readonly roundsLeft: number
}

/** Asks an architect what becomes of work that a review did not approve. */
export const roundPrompt = ({ request, round, findings, usual, roundsLeft }: ReviewedWork): string =>
  [
    `You are the architect of a crew. Round ${round.number} of the review ended with ${round.verdict}. Decide what to do; do not change any file.`,
    `The request:\n\n${fenced(request)}`,
    `What the review left to be fixed:\n\n${fenced([round.summary, ...round.reasons, ...findings.map(findingWords)].join('\n'))}`,
    `${roundsLeft === 1 ? 'One more round' : `${roundsLeft} more rounds`} of review can follow.`,
    howToAnswer({ action: usual, reason: '<why>' }),
    '`action` is revise (developers fix what was found), replan (the approach is wrong; you will be asked for another plan) or abort (the work is given up, and stays on its branch). You cannot approve the work.',
  ].join('\n\n')
