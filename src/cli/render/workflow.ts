import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { age } from './durations.ts'
import { oneLine, plainLines } from './one-line.ts'
import { type Colour, type Paint, painter } from './paint.ts'
import { table } from './table.ts'

type Shown = CommandOutput<'workflow show'>
type Status = Shown['status']

const marks = {
  running: ['cyan', '●'],
  pending: ['yellow', '…'],
  completed: ['green', '✓'],
  failed: ['red', '✗'],
  cancelled: ['yellow', '✗'],
} as const satisfies Record<Status, readonly [Colour, string]>

function mark(status: Status, paint: Paint): string {
  const [colour, sign] = marks[status]
  return paint(colour, sign)
}

/** Workflows, newest first. */
export function renderWorkflows(
  { workflows }: CommandOutput<'workflow list'>,
  { width, now, color }: View,
): string {
  if (workflows.length === 0) return 'No workflow has run yet; begin one with: sm crew "<what shall be done>"'
  const paint = painter(color)
  return table(
    [
      { title: '' },
      { title: 'workflow' },
      { title: 'phase' },
      { title: 'age', align: 'right' },
      { title: 'about', isElastic: true },
    ],
    workflows.map((flow) => [
      mark(flow.status, paint),
      flow.workflow_id,
      flow.status === 'running' ? (flow.phase ?? 'begins') : flow.status,
      flow.started_at === null ? '' : age(flow.started_at, now),
      oneLine(flow.detail ?? flow.title ?? ''),
    ]),
    width,
  )
}

const done = new Set(['completed', 'failed', 'cancelled'])

/** One workflow: how it stands, or its report when it is over. */
export function renderWorkflow(flow: Shown, { width, color }: View): string {
  const paint = painter(color)
  const head = `${mark(flow.status, paint)} ${paint('bold', flow.workflow_id)}  ${flow.phase ?? ''}  ${oneLine(flow.title ?? '')}`
  const asks = flow.approvals.flatMap(({ approval_id, action }) => [
    `${paint('yellow', '?')} ${oneLine(action)}`,
    `  sm approve ${approval_id}    sm reject ${approval_id}`,
  ])
  if (flow.report_text !== null)
    return [plainLines(flow.report_text).trimEnd(), ...(asks.length > 0 ? ['', ...asks] : [])].join('\n')
  const tasks =
    flow.tasks.length === 0
      ? []
      : [
          table(
            [{ title: 'task' }, { title: 'state' }, { title: 'who' }, { title: 'about', isElastic: true }],
            flow.tasks.map((task) => [
              task.task_id,
              task.status,
              task.agent ?? '',
              oneLine((done.has(task.status) ? task.detail : null) ?? task.description ?? ''),
            ]),
            width,
          ),
        ]
  const why = flow.detail === null ? [] : [paint('red', oneLine(flow.detail))]
  const result = flow.result === null ? [] : [JSON.stringify(flow.result, null, 2)]
  const partial = flow.partial === null ? [] : ['Done by then:', JSON.stringify(flow.partial, null, 2)]
  return [head, ...why, ...tasks, ...result, ...partial, ...asks].join('\n')
}
