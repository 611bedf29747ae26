import type { RunRow } from '../../contract/index-rows.ts'
import type { AgentRunRecord } from '../../contract/runtime-routes.ts'

/** Times are seconds in the runtime contract. */
export const seconds = (ms: number): number => ms / 1000

/** A run under the names of the runtime contract. */
export const runRecord = (row: RunRow): AgentRunRecord => ({
  run_id: row.runId,
  repo_path: row.repoPath ?? '',
  session_id: row.sessionId,
  agent_id: row.agentId ?? 'agent',
  agent_kind: row.kind,
  ...(row.parentRunId && { parent_run_id: row.parentRunId }),
  status: row.status,
  ...(row.detail && { detail: row.detail }),
  started_at: seconds(row.startedMs),
  ...(row.endedMs !== null && { ended_at: seconds(row.endedMs) }),
})
