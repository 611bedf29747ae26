import type { Client } from '../client/client.ts'
import { bodyText } from '../contract/body-text.ts'
import type { ApprovalView } from '../contract/session-views.ts'
import type { WorkflowDetail } from '../contract/workflow-routes.ts'
import type { Io } from './io.ts'
import { answerCommands } from './render/approvals.ts'
import { type Paint, painter } from './render/paint.ts'
import { oneLine } from './render/safe-text.ts'
import { terms } from './render/table.ts'
import { cut } from './render/text-width.ts'

const lookMs = 250
const pageOf = 500
const longestAsk = 200

/** Which workflow, and what stands before each of its lines. */
type Followed = {
  readonly workflow_id: string
  readonly session_id: string
  readonly indent?: string
  /** Whoever follows it may decide here whether it begins. */
  readonly decides?: boolean
}

/**
 * The news of a workflow for a person as they come, none as data, until it has ended or its work is there to be landed;
 * answers how it stands.
 */
export async function* followWorkflow(
  client: Client,
  { workflow_id, session_id, indent = '', decides = false }: Followed,
  io: Io,
): AsyncGenerator<string, WorkflowDetail> {
  const paint = painter(io.isColored)
  let after = 0
  const asked = new Set<string>()
  for (;;) {
    const flow = await client.getWorkflow({ id: workflow_id }, { signal: io.signal })
    const { events } = await client.listEvents(
      { session: session_id, after, limit: pageOf },
      { signal: io.signal },
    )
    for (const event of events) {
      after = event.seq
      const line = workflowLine(event, paint)
      if (line !== undefined && !io.isJson) yield `${indent}${line}\n`
    }
    if ((flow.status !== 'running' || isToLand(flow)) && events.length === 0) return flow
    for (const approval of flow.approvals) {
      const { approval_id, session_id: id, name, action } = approval
      if (asked.has(approval_id) || flow.status !== 'running' || io.isJson) continue
      asked.add(approval_id)
      if (decides && approval.subject === 'workflow' && id === session_id) {
        yield `${scriptTable(approval)}\n`
        const verdict = (await io.confirm('Run it?')) ? 'allow' : 'deny'
        await client.decideApproval({ id: approval_id, verdict }, { signal: io.signal })
        continue
      }
      const what = cut(oneLine(action), longestAsk)
      yield `${indent}${paint('yellow', '?')} ${oneLine(name)} asks: ${what}\n${answerCommands(approval, id)
        .map((line) => `  ${line}\n`)
        .join('')}`
    }
    if (events.length < pageOf) await io.sleep(lookMs)
  }
}

/** What a script will do and may use, before anything of it runs. */
function scriptTable({ action, reason }: ApprovalView): string {
  const rows = (reason ?? '').split('\n').flatMap((line): (readonly [string, string])[] => {
    const at = line.indexOf(': ')
    return at < 0 ? [] : [[line.slice(0, at), oneLine(line.slice(at + 2))]]
  })
  return [oneLine(action), ...terms(rows)].join('\n')
}

/** Its work is done and accepted, and waits for somebody who lands it. */
export const isToLand = ({ status, phase, approvals }: WorkflowDetail): boolean =>
  status === 'running' && phase === 'land' && approvals.some(({ subject }) => subject === 'land')

type Told = { readonly type: string; readonly taskId?: string | undefined; readonly payload?: unknown }

type Words = Readonly<Record<string, unknown>>

/** One line about what happened in a workflow; nothing for what only fills the record. */
function workflowLine(event: Told, paint: Paint): string | undefined {
  const say = lines[event.type]
  return say?.(event.payload as Words, { paint, taskId: event.taskId })
}

type Around = { readonly paint: Paint; readonly taskId: string | undefined }

const text = (value: unknown): string => oneLine(typeof value === 'string' ? value : (bodyText(value) ?? ''))
const first = (value: unknown): string => text(value).slice(0, 200)

/** The checks of one task say which; those of a review are for the whole. */
const of = (taskId: string | undefined): string => (taskId === undefined ? '' : `${text(taskId)}: `)

const lines: Readonly<Record<string, (said: Words, around: Around) => string | undefined>> = {
  'plan.created': ({ tasks }, { paint }) => {
    const all = Array.isArray(tasks) ? (tasks as { taskId: string }[]) : []
    return `${paint('bold', 'plan')}  ${all.length === 1 ? '1 task' : `${all.length} tasks`}: ${all.map(({ taskId }) => text(taskId)).join(', ')}`
  },
  'agent.task.assigned': ({ agentId, taskId }, { paint }) =>
    `${paint('cyan', '→')} ${text(agentId)} starts ${text(taskId)}`,
  'task.completed': ({ agentId, summary }, { paint, taskId }) =>
    `${paint('green', '●')} ${text(agentId)} finished ${text(taskId)}: ${first(summary)}`,
  'task.failed': ({ agentId, reason }, { paint, taskId }) =>
    `${paint('red', '✗')} ${text(agentId)} could not do ${text(taskId)}: ${first(reason)}`,
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
    `${paint('yellow', '✗')} it was cancelled: ${first(reason)}`,
}
