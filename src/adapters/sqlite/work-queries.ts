import type {
  ApprovalLatency,
  ApprovalRow,
  MessageRow,
  TaskRow,
  WorkflowRow,
} from '../../contract/index-rows.ts'
import type { ApprovalFilter, MessageFilter, TaskFilter, WorkflowFilter } from '../../ports/index.ts'
import { elapsed, flag, type RowReader } from './row-reader.ts'
import { isWithin } from './session-queries.ts'

export function tasks(reader: RowReader, filter: TaskFilter): TaskRow[] {
  const { sessionId, traceId, status } = filter
  return reader.select('tasks', {
    page: filter,
    by: 'firstSeq',
    equal: { sessionId, traceId, status },
    order: 'firstSeq, taskId',
  }) as TaskRow[]
}

export function messages(reader: RowReader, filter: MessageFilter): MessageRow[] {
  const { messageId, correlationId, sessionId, messageType } = filter
  const equal = { messageId, correlationId, sessionId, messageType }
  return reader.select('messages', { page: filter, by: 'seq', equal }) as MessageRow[]
}

export function approvals(reader: RowReader, filter: ApprovalFilter): ApprovalRow[] {
  const { approvalId, sessionId, isPending } = filter
  const found = reader.select('approvals', {
    page: filter,
    by: 'seq',
    equal: { approvalId, sessionId },
    where: [isWithin(reader, filter.within), flag('decision IS NULL', isPending)],
  })
  for (const row of found) row['latencyMs'] ??= elapsed(row['requestedMs'], row['decidedMs'])
  return found as ApprovalRow[]
}

export function workflows(reader: RowReader, filter: WorkflowFilter): WorkflowRow[] {
  const { workflowId, sessionId, status } = filter
  const equal = { workflowId, sessionId, status }
  const where = [isWithin(reader, filter.within)]
  return reader.select('workflows', {
    page: filter,
    by: 'seq',
    equal,
    where,
    order: 'seq DESC',
  }) as WorkflowRow[]
}

const latency = 'coalesce(latencyMs, max(decidedMs - requestedMs, 0))'

/** Percentiles by nearest rank over the answers a person gave; what expired was not answered. */
export function approvalLatency(reader: RowReader, { sessionId }: { sessionId?: string }): ApprovalLatency {
  const session = reader.is('sessionId', sessionId)
  const scope = session === undefined ? '' : ` AND ${session.sql}`
  const values = session?.values ?? []
  const answered = `decision IN (${[reader.words.number('granted'), reader.words.number('rejected')].join(', ')})
    AND ${latency} IS NOT NULL${scope}`
  const count = (where: string): number =>
    Number(reader.all(`SELECT count(*) AS n FROM approvals WHERE ${where}`, values)[0]?.['n'])
  const decided = count(answered)
  const at = (share: number): number | null => {
    if (decided === 0) return null
    const sql = `SELECT ${latency} AS ms FROM approvals WHERE ${answered} ORDER BY 1 LIMIT 1 OFFSET ?`
    return Number(reader.all(sql, [...values, Math.ceil(share * decided) - 1])[0]?.['ms'])
  }
  return { decided, pending: count(`decision IS NULL${scope}`), p50Ms: at(0.5), p95Ms: at(0.95) }
}
