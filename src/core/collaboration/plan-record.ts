import type { Plan } from '../../contract/collaboration/plan.ts'
import type { EventOf } from '../../contract/event.ts'

/** A plan as `plan.created` records it: whole, and as tasks with what they wait for. */
export const planRecord = (planId: string, plan: Plan): EventOf<'plan.created'>['payload'] => ({
  planId,
  plan,
  tasks: plan.tasks.map(({ task_id, title, description, priority, depends_on }) => ({
    taskId: task_id,
    description: `${title}\n\n${description}`,
    priority,
    dependencies: depends_on.map((dependency) => dependency.task_id),
  })),
})
