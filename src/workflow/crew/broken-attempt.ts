import type { Attempt, Attempted } from './carry-out.ts'

/** An attempt that something threw in: a work tree, a commit, a message that was refused. */
export function brokenAttempt({ work, start }: Attempt, error: unknown): Attempted {
  const text = error instanceof Error ? error.message : String(error)
  const output = {
    task_id: work.task.task_id,
    status: 'failed' as const,
    changes: { files_created: [], files_modified: [], files_deleted: [] },
    summary: text,
  }
  return {
    state: 'failed',
    output,
    files: [],
    durationMs: 0,
    failure: { kind: 'exception', error: text },
    ...(start !== undefined && { start }),
  }
}
