import type {
  ApprovalLatency,
  ApprovalRow,
  MessageRow,
  TaskRow,
  WorkflowRow,
} from '../../contract/index-rows.ts'
import type { ApprovalFilter, MessageFilter, TaskFilter, WorkflowFilter } from '../../ports/index.ts'
import { between, type Condition, type Fields, limitOf, type RowReader } from './row-reader.ts'

export function tasks(reader: RowReader, filter: TaskFilter): TaskRow[] {
  return reader.select({
    table: 'tasks',
    where: [
      ...between('firstSeq', filter),
      reader.is('sessionId', filter.sessionId),
      reader.is('traceId', filter.traceId),
      reader.is('status', filter.status),
    ],
    order: 'firstSeq, taskId',
    limit: limitOf(filter.limit),
  }) as TaskRow[]
}

export function messages(reader: RowReader, filter: MessageFilter): MessageRow[] {
  return reader.select({
    table: 'messages',
    where: [
      ...between('seq', filter),
      equals('messageId', filter.messageId),
      equals('correlationId', filter.correlationId),
      reader.is('sessionId', filter.sessionId),
      reader.is('messageType', filter.messageType),
    ],
    order: 'seq',
    limit: limitOf(filter.limit),
  }) as MessageRow[]
}

export function approvals(reader: RowReader, filter: ApprovalFilter): ApprovalRow[] {
  return reader
    .select({
      table: 'approvals',
      where: [
        ...between('seq', filter),
        equals('approvalId', filter.approvalId),
        reader.is('sessionId', filter.sessionId),
        pending(filter.isPending),
      ],
      order: 'seq',
      limit: limitOf(filter.limit),
    })
    .map((row) => {
      row['latencyMs'] ??= waited(row)
      return row as ApprovalRow
    })
}

export function workflows(reader: RowReader, filter: WorkflowFilter): WorkflowRow[] {
  return reader.select({
    table: 'workflows',
    where: [
      ...between('seq', filter),
      equals('workflowId', filter.workflowId),
      reader.is('sessionId', filter.sessionId),
      reader.is('status', filter.status),
    ],
    order: 'seq DESC',
    limit: limitOf(filter.limit),
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

function waited({ requestedMs, decidedMs }: Fields): number | null {
  if (typeof requestedMs !== 'number' || typeof decidedMs !== 'number') return null
  return Math.max(decidedMs - requestedMs, 0)
}

function pending(wanted: boolean | undefined): Condition | undefined {
  if (wanted === undefined) return undefined
  return { sql: wanted ? 'decision IS NULL' : 'decision IS NOT NULL', values: [] }
}

function equals(column: string, text: string | undefined): Condition | undefined {
  return text === undefined ? undefined : { sql: `${column} = ?`, values: [text] }
}
