import { bodyText } from '../../contract/body-text.ts'
import { oneLine } from './one-line.ts'
import type { Paint } from './paint.ts'

type Told = { readonly type: string; readonly taskId?: string | undefined; readonly payload?: unknown }
type Words = Readonly<Record<string, unknown>>

/** One line about what happened in a workflow; nothing for what only fills the record. */
export function workflowLine(event: Told, paint: Paint): string | undefined {
  const say = lines[event.type]
  return say?.(event.payload as Words, { paint, taskId: event.taskId })
}

type Around = { readonly paint: Paint; readonly taskId: string | undefined }

const text = (value: unknown): string => oneLine(typeof value === 'string' ? value : (bodyText(value) ?? ''))
const first = (value: unknown): string => text(value).slice(0, 200)

/** The checks of one task say which; those of a review are for the whole. */
const of = (taskId: string | undefined): string => (taskId === undefined ? '' : `${taskId}: `)

const lines: Readonly<Record<string, (said: Words, around: Around) => string | undefined>> = {
  'plan.created': ({ tasks }, { paint }) => {
    const all = Array.isArray(tasks) ? (tasks as { taskId: string }[]) : []
    return `${paint('bold', 'plan')}  ${all.length === 1 ? '1 task' : `${all.length} tasks`}: ${all.map(({ taskId }) => taskId).join(', ')}`
  },
  'agent.task.assigned': ({ agentId, taskId }, { paint }) =>
    `${paint('cyan', '→')} ${text(agentId)} begins ${text(taskId)}`,
  'task.completed': ({ agentId, summary }, { paint, taskId }) =>
    `${paint('green', '●')} ${text(agentId)} ended ${taskId ?? ''}: ${first(summary)}`,
  'task.failed': ({ agentId, reason }, { paint, taskId }) =>
    `${paint('red', '✗')} ${text(agentId)} could not do ${taskId ?? ''}: ${first(reason)}`,
  'test.passed': ({ command }, { paint, taskId }) => `${paint('green', '✓')} ${of(taskId)}${first(command)}`,
  'test.failed': ({ command }, { paint, taskId }) => `${paint('red', '✗')} ${of(taskId)}${first(command)}`,
  'verifier.issue.found': ({ severity, file, line, description }, { paint }) =>
    `  ${paint('yellow', text(severity))} ${text(file)}${typeof line === 'number' ? `:${line}` : ''} ${first(description)}`,
  'loop.round.completed': ({ round, verdict }, { paint }) =>
    verdict === undefined
      ? undefined
      : `${paint('bold', `round ${String(round)}`)}  ${text(verdict).replaceAll('_', ' ')}`,
  'budget.exceeded': ({ budget, used, limit }, { paint }) =>
    `${paint('red', '✗')} the budget is used up: ${String(used)} of ${String(limit)} ${text(budget)}`,
  'workflow.failed': ({ reason, error }, { paint }) => `${paint('red', '✗')} ${first(reason ?? error)}`,
  'workflow.cancelled': ({ reason }, { paint }) =>
    `${paint('yellow', '✗')} it was called off: ${first(reason)}`,
}
