import type { RunId, SpanId } from '../../contract/ids.ts'

/** A task that an agent noted for itself. */
export type NotedTask = {
  readonly id: string
  readonly subject: string
  /** The run that has it, and where. */
  runId: RunId
  spanId: SpanId
  status: 'pending' | 'in_progress' | 'completed' | 'deleted'
}

/** What an agent keeps in mind over its runs: its tasks, and whether it only plans for now. */
export class WorkNotes {
  readonly tasks: NotedTask[] = []
  isPlanning = false
}
