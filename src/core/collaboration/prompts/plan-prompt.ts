import type { CrewRound } from '../../../contract/collaboration/crew-report.ts'
import type { ChallengerReply } from '../../../contract/collaboration/replies.ts'
import type { ReviewFinding } from '../../../contract/session-file/outputs.ts'
import { challengeWords } from '../challenge-feedback.ts'
import { findingWords } from '../finding-words.ts'
import { fenced, howToAnswer } from './quoted.ts'

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
    `You are the architect of a crew. The reviewer rejected the work on this request: the approach itself is wrong. Plan again; do not change any file. The rejected work stands in this work tree. Its files may be changed or deleted by the new tasks.`,
    `What the reviewer said:\n\n${fenced([round.summary, ...findings.map(findingWords)].join('\n'))}`,
    ...planParts(asked),
  ].join('\n\n')

/** Asks an architect for its plan again, with what a challenger holds against it. */
export const challengedPlanPrompt = (objections: ChallengerReply): string =>
  [
    'A challenger has looked for what is wrong with your plan. Mend the plan where the objections hold; where one does not, say why in `notes`.',
    fenced(challengeWords(objections)),
    'Answer again with the whole JSON object of the plan, in the same shape, and nothing after it.',
  ].join('\n\n')

function planParts({ request, maxTasks, taken = [], checks = [] }: Asked): string[] {
  return [
    `The request:\n\n${fenced(request)}`,
    `Read the code that the request touches first: entry points, tests, conventions, how it is built and tested. Then choose the smallest change that fulfils the whole request, and cut it into at most ${maxTasks} ${maxTasks === 1 ? 'task' : 'tasks'}; one task is best when the work is small.`,
    [
      'Rules that are enforced:',
      '- Each task goes to a developer who sees only that task, in a work tree of its own.',
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
export const planExample = {
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
