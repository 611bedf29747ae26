import { Plan, type PlanTask } from '../../../contract/collaboration/plan.ts'
import { matchesGlob } from '../../delegation/matches-glob.ts'
import { checkPlan, type PlanLimits } from '../check-plan.ts'
import { splitTask } from '../split-task.ts'
import { type Read, readReply } from './read-reply.ts'

type Split = {
  readonly tasks: readonly PlanTask[]
  /** The task that is to be split. */
  readonly taskId: string
  readonly limits: PlanLimits
}

/** The tasks with the smaller ones that an architect answers, when all of them can be carried out together. */
export function readSplit(words: string, { tasks, taskId, limits }: Split): Read<PlanTask[]> {
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
        `task ${part.task_id}: ${JSON.stringify(glob)} is outside of the scope of the task that is split`,
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
