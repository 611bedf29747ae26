import * as z from 'zod'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Tool } from '../../ports/tools.ts'
import type { Recorder } from '../recorder.ts'
import { type NotedTask, runtimeTool, said, type ToolRun, wrong } from './runtime-tool.ts'

const NewTask = z.strictObject({ subject: z.string().min(1).max(500), description: z.string().optional() })
const TaskChange = z.strictObject({
  taskId: z.string().min(1),
  status: z.enum(['pending', 'in_progress', 'completed', 'deleted']),
})
const Nothing = z.strictObject({})

/** The task list of an agent: what it means to do, what it does, and what is done. */
export function taskListTools({ parts, run, notes }: ToolRun, recorder: Recorder): readonly Tool[] {
  const at = (task: Pick<NotedTask, 'spanId'>) => ({
    ...run.root,
    spanId: task.spanId,
    parentSpanId: run.root.spanId,
  })
  const assigned = (task: NotedTask, description: string) =>
    draftOf(at(task), 'agent.task.assigned', {
      taskId: `${run.runId}/${task.id}`,
      description,
      agentId: run.agentId,
      assignedBy: run.agentId,
    })
  const list = () =>
    notes.tasks
      .filter(({ status }) => status !== 'deleted')
      .map(({ id, status, subject }) => `${id} [${status}] ${subject}`)
      .join('\n') || 'No tasks.'
  return [
    runtimeTool({
      name: 'TaskCreate',
      description: 'Adds a task to your list. Use it for work of several steps, so that others see the plan.',
      category: 'task_management',
      input: NewTask,
      async run({ subject, description }) {
        const task: NotedTask = {
          id: `t${notes.tasks.length + 1}`,
          subject,
          runId: run.runId,
          spanId: parts.ids.span(),
          status: 'pending',
        }
        notes.tasks.push(task)
        recorder.record([assigned(task, description ? `${subject}\n${description}` : subject)])
        return said(`Task ${task.id} is noted.`)
      },
    }),
    runtimeTool({
      name: 'TaskUpdate',
      description: 'Says that a task on your list was started, is done, or is no longer needed.',
      category: 'task_management',
      input: TaskChange,
      async run({ taskId, status }) {
        const task = notes.tasks.find(({ id }) => id === taskId)
        if (!task) return wrong(`there is no task ${taskId}; TaskList shows them`)
        if (task.status === 'completed' || task.status === 'deleted')
          return wrong(`task ${taskId} is ${task.status} already`)
        task.status = status
        // What was open ended with the run that noted it; this one takes it on.
        if (task.runId !== run.runId) {
          Object.assign(task, { runId: run.runId, spanId: parts.ids.span() })
          recorder.record([assigned(task, task.subject)])
        }
        if (status === 'completed')
          recorder.record([draftOf(at(task), 'task.completed', { agentId: run.agentId })])
        else if (status === 'deleted')
          recorder.record([
            draftOf(at(task), 'task.cancelled', { agentId: run.agentId, reason: 'no longer wanted' }),
          ])
        else if (status === 'in_progress')
          recorder.record([draftOf(run.root, 'progress.checkpoint', { message: task.subject })])
        return said(list())
      },
    }),
    runtimeTool({
      name: 'TaskList',
      description: 'Shows your list of tasks.',
      category: 'task_management',
      input: Nothing,
      run: async () => said(list()),
    }),
  ]
}
