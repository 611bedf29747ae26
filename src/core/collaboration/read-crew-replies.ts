import {
  ChallengerReply,
  FailureReply,
  Plan,
  type PlanTask,
  RoundReply,
} from '../../contract/collaboration/replies.ts'
import { matchesGlob } from '../delegation/globs.ts'
import { type ReplyResult, readReply } from '../delegation/read-reply.ts'
import { checkPlan, type PlanLimits } from './check-plan.ts'
import { splitTask } from './task-graph.ts'

/** The plan an architect ends its words with, when it can be carried out. */
export const readPlan = (words: string, limits: PlanLimits): ReplyResult<Plan> =>
  readReply(words, { schema: Plan, check: (plan) => checkPlan(plan, limits) })

/** What a challenger says of a plan. */
export const readChallenge = (words: string): ReplyResult<ChallengerReply> =>
  readReply(words, { schema: ChallengerReply })

type SplitContext = {
  readonly tasks: readonly PlanTask[]
  /** The task that is to be split. */
  readonly taskId: string
  readonly limits: PlanLimits
}

/** The tasks with the smaller ones that an architect answers, when all of them can be carried out together. */
export function readSplit(words: string, { tasks, taskId, limits }: SplitContext): ReplyResult<PlanTask[]> {
  const whole = tasks.find((task) => task.task_id === taskId)
  const read = readReply(words, {
    schema: Plan,
    check: (plan) => [
      // One part could be split for ever.
      ...(plan.tasks.length < 2 ? ['tasks: give at least two smaller ones'] : []),
      ...plan.tasks.flatMap((part) => outside(part, whole)),
      ...checkPlan({ tasks: splitTask(tasks, taskId, plan.tasks) }, limits),
    ],
  })
  return 'value' in read ? { value: splitTask(tasks, taskId, read.value.tasks) } : read
}

const outside = (part: PlanTask, whole: PlanTask | undefined): string[] =>
  part.scope
    .filter((glob) => !(whole?.scope ?? []).some((given) => isWithin(glob, given)))
    .map(
      (glob) =>
        `task ${part.task_id}: ${JSON.stringify(glob)} is outside the scope of the task that is being split`,
    )

/** Whether what a glob names is surely named by another; paths of several depths stand for what it names. */
const isWithin = (glob: string, given: string): boolean =>
  glob === given || samplesOf(glob).every((sample) => matchesGlob(sample, given))

const samplesOf = (glob: string): string[] =>
  [
    ['', 'q'],
    ['q/', 'q'],
    ['q/q/', 'qq'],
  ].map(([folders = '', name = '']) =>
    glob.replaceAll('**/', folders).replaceAll('**', 'q').replaceAll('*', name),
  )

/** What an architect decides about a task that failed. */
export const readFailureReply = (words: string): ReplyResult<FailureReply> =>
  readReply(words, { schema: FailureReply })

/** What an architect decides about a review that did not approve. */
export const readRoundReply = (words: string): ReplyResult<RoundReply> =>
  readReply(words, { schema: RoundReply })
