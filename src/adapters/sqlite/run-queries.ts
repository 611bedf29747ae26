import type { RunRow } from '../../contract/index-rows.ts'
import type { RunFilter } from '../../ports/index.ts'
import { between, limitOf } from './page.ts'
import type { Fields, RowReader } from './row-reader.ts'
import { callCounts, counted, priced, toolCounts } from './shape.ts'

export function runs(reader: RowReader, filter: RunFilter): RunRow[] {
  const { isOpen, isAgent, workingDir, isNewestFirst } = filter
  const found = reader.select({
    table: 'runs',
    where: [
      { sql: 'firstSeq IS NOT NULL', values: [] },
      ...between('firstSeq', filter),
      reader.is('runId', filter.runId),
      reader.is('sessionId', filter.sessionId),
      reader.is('parentRunId', filter.parentRunId),
      isOpen === undefined
        ? undefined
        : { sql: isOpen ? 'status IS NULL' : 'status IS NOT NULL', values: [] },
      isAgent ? { sql: 'spanId IS NOT NULL', values: [] } : undefined,
      workingDir === undefined
        ? undefined
        : {
            sql: 'sessionId IN (SELECT sessionId FROM sessions WHERE workingDir = ?)',
            values: [reader.words.number(workingDir)],
          },
    ],
    order: isNewestFirst ? 'firstSeq DESC' : 'firstSeq',
    limit: limitOf(filter.limit),
  })
  const folders = new Map<string, string | null>()
  return found.map((row) => shape(row, folderOf(reader, String(row['sessionId']), folders)))
}

function folderOf(reader: RowReader, sessionId: string, known: Map<string, string | null>): string | null {
  const folder = known.get(sessionId)
  if (folder !== undefined) return folder
  const [row] = reader.all('SELECT workingDir FROM sessions WHERE sessionId = ?', [
    reader.words.number(sessionId),
  ])
  const no = row?.['workingDir']
  const found = typeof no === 'number' ? reader.words.word(no) : null
  known.set(sessionId, found)
  return found
}

function shape(row: Fields, repoPath: string | null): RunRow {
  counted(row, [...toolCounts, ...callCounts])
  priced(row)
  row['repoPath'] = repoPath
  row['kind'] ??= row['parentRunId'] === null ? 'main' : 'subagent'
  row['status'] ??= 'running'
  row['durationMs'] ??= elapsed(row)
  return row as unknown as RunRow
}

/** What an end did not say itself: the time between the two events. */
export function elapsed(row: Fields): number | null {
  const { startedMs, endedMs } = row
  return typeof startedMs === 'number' && typeof endedMs === 'number'
    ? Math.max(endedMs - startedMs, 0)
    : null
}
