import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import { defineCommands, type View } from '../command-module.ts'
import { currentSession } from '../current-session.ts'
import { followWorkflow, isToLand } from '../follow-workflow.ts'
import { textInput } from '../named-files.ts'
import { given, parseBudget } from '../parse-values.ts'
import { answerCommands } from '../render/approvals.ts'
import { age } from '../render/figures.ts'
import { type Colour, type Paint, painter } from '../render/paint.ts'
import { jsonText, oneLine, plainLines } from '../render/safe-text.ts'
import { table } from '../render/table.ts'

/** Crews at work, and every other durable procedure. */
export const workflowCommands = defineCommands(
  {
    'workflow list': {
      asks: ({ limit }) => given({ limit }),
      render: renderWorkflows,
    },
    'workflow show': {
      asks: ({ id }) => ({ id }),
      render: renderWorkflow,
      exitCode: ({ status }) => (isShort(status) ? errorCodes.failed.exit : 0),
    },
    'workflow resume': {
      asks: ({ id }) => ({ id }),
      render: ({ workflow_id, status }) => `${workflow_id} is ${status}`,
    },
    'workflow fork': {
      asks: ({ id, before, unsafe }) => ({ id, ...given({ before, unsafe }) }),
      render: ({ workflow_id }) => `${workflow_id} is running; see: sm workflow show ${workflow_id}`,
    },
    'workflow cancel': {
      asks: ({ id, reason }) => ({ id, ...given({ reason }) }),
      render: ({ workflow_id, status }) => `${workflow_id} is ${status}`,
    },
  },
  {
    demo: {
      text: async function* (input, io) {
        yield* (await import('./demo.ts')).playDemo(input, io)
      },
    },
    crew: {
      text: async function* (
        { request, name, pattern, choice, cli, model, budget, minutes, detach, ...more },
        io,
      ) {
        const text = await textInput(request, undefined, io)
        if (text === undefined || text.trim() === '')
          throw new AppError('invalid', 'the request is empty; give one, or - to read standard input')
        const client = await (await io.daemon()).client()
        const amounts = parseBudget(budget)
        const limit = minutes === undefined ? amounts : { ...amounts, minutes }
        const begun = await client.startCrew({
          request: text,
          project_root: io.cwd,
          ...given({
            crew: name,
            pattern,
            choices: choice.length === 0 ? undefined : [...choice],
            cli,
            model,
            max_iterations: more['max-iterations'],
            budget: limit,
            approve_plan: more['approve-plan'],
          }),
        })
        const { workflow_id } = begun
        if (!io.isJson && begun.why !== '') io.say(begun.why)
        if (detach) {
          const flow = await client.getWorkflow({ id: workflow_id })
          yield io.isJson
            ? `${jsonText(flow, 2)}\n`
            : `${workflow_id} is running; see: sm workflow show ${workflow_id}\n`
          return
        }
        if (!io.isJson)
          io.say(`${workflow_id} is running; it continues when you quit: sm workflow show ${workflow_id}`)
        const flow = yield* followWorkflow(client, begun, io)
        const view = { width: io.width(), now: io.now(), color: io.isColored }
        yield io.isJson ? `${jsonText(flow, 2)}\n` : `\n${renderWorkflow(flow, view)}\n`
        refuseUnlessDone(flow)
      },
    },
    'workflow run': {
      text: async function* (
        { script, args, cli, agents, tokens, usd, minutes, concurrency, yes, unsafe, detach },
        io,
      ) {
        const client = await (await io.daemon()).client()
        const begun = await client.startScript({
          script,
          project_root: io.cwd,
          args: args === undefined ? null : parsed(args),
          limits: given({ agents, tokens, usd, minutes, concurrency }),
          ...given({
            cli,
            approved: yes,
            unsafe,
            unattended: !io.canAsk && !detach && currentSession(io) === undefined,
          }),
        })
        const { workflow_id } = begun
        if (!io.isJson && begun.why !== '') io.say(begun.why)
        if (!detach) yield* followWorkflow(client, { ...begun, decides: io.canAsk }, io)
        const flow = await client.getWorkflow({ id: workflow_id })
        const view = { width: io.width(), now: io.now(), color: io.isColored }
        yield `${io.isJson ? jsonText(flow, 2) : renderWorkflow(flow, view)}\n`
        if (!detach) refuseUnlessDone(flow)
      },
    },
  },
)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError(
      'invalid',
      '--args is not JSON; quote it for the shell, as in --args \'{"folder":"src"}\'',
    )
  }
}

const marks = {
  running: ['cyan', '●'],
  pending: ['yellow', '…'],
  completed: ['green', '✓'],
  failed: ['red', '✗'],
  rejected: ['red', '✗'],
  cancelled: ['yellow', '✗'],
} as const satisfies Record<Status, readonly [Colour, string]>
const done = new Set(['completed', 'failed', 'rejected', 'cancelled'])

/** It has ended, and did not give what was asked for. */
const isShort = (status: Status): boolean => done.has(status) && status !== 'completed'

/** What was waited for is done, or a shell is told that it is not, and why. */
function refuseUnlessDone(flow: Shown): void {
  const { workflow_id, status, detail } = flow
  if (status === 'completed' || isToLand(flow)) return
  throw new AppError('failed', `${workflow_id} is ${status}${detail ? `: ${oneLine(detail)}` : ''}`)
}

type Shown = CommandOutput<'workflow show'>
type Status = Shown['status']

function mark(status: Status, paint: Paint): string {
  const [colour, sign] = marks[status]
  return paint(colour, sign)
}

/** Workflows, newest first. */
export function renderWorkflows(
  { workflows }: CommandOutput<'workflow list'>,
  { width, now, color }: View,
): string {
  if (workflows.length === 0) return 'No workflow has run yet; start one with: sm crew "<what to do>"'
  const paint = painter(color)
  return table(
    workflows,
    [
      {
        title: '',
        cell: ({ status }) => marks[status][1],
        paint: (sign, { status }) => paint(marks[status][0], sign),
      },
      { title: 'WORKFLOW', cell: ({ workflow_id }) => workflow_id },
      { title: 'PHASE', cell: ({ status, phase }) => (status === 'running' ? (phase ?? 'begins') : status) },
      {
        title: 'AGE',
        align: 'right',
        cell: ({ started_at }) => (started_at === null ? '' : age(started_at, now)),
      },
      { title: 'ABOUT', isElastic: true, cell: ({ detail, title }) => oneLine(detail ?? title ?? '') },
    ],
    width,
  )
}

/** One workflow: how it stands, or its report when it is over. */
export function renderWorkflow(flow: Shown, { width, color }: View): string {
  const paint = painter(color)
  const head = `${mark(flow.status, paint)} ${paint('bold', flow.workflow_id)}  ${oneLine(`${flow.phase ?? ''}  ${flow.title ?? ''}`)}`
  const asks = flow.approvals.flatMap((approval) => [
    `${paint('yellow', '?')} ${oneLine(approval.action)}`,
    ...answerCommands(approval, approval.approval_id).map((line) => `  ${line}`),
  ])
  const why = flow.detail === null ? [] : [paint('red', oneLine(flow.detail))]
  if (flow.report_text !== null) {
    // Whoever reads the report of work that a person did not land reads that first.
    const end = isShort(flow.status) ? [`${mark(flow.status, paint)} ${flow.status}`, ...why, ''] : []
    const report = plainLines(flow.report_text).trimEnd()
    return [...end, report, ...(asks.length > 0 ? ['', ...asks] : [])].join('\n')
  }
  const tasks =
    flow.tasks.length === 0
      ? []
      : [
          table(
            flow.tasks,
            [
              { title: 'TASK', cell: ({ task_id }) => task_id },
              { title: 'STATE', cell: ({ status }) => status },
              { title: 'WHO', cell: ({ agent }) => agent ?? '' },
              {
                title: 'ABOUT',
                isElastic: true,
                cell: ({ status, detail, description }) =>
                  oneLine((done.has(status) ? detail : null) ?? description ?? ''),
              },
            ],
            width,
          ),
        ]
  const result = flow.result === null ? [] : [jsonText(flow.result, 2)]
  const partial = flow.partial === null ? [] : ['Done by then:', jsonText(flow.partial, 2)]
  return [head, ...why, ...tasks, ...result, ...partial, ...asks].join('\n')
}
