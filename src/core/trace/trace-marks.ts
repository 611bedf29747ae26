import type { EventType } from '../../contract/event.ts'

/**
 * The points that a trace shows as leaves: what an agent made, found, decided or was told, and where its workflow stood.
 * What only moves a status, or repeats what a span says, is none.
 */
export const markTypes = [
  'workflow.created',
  'workflow.approved',
  'workflow.checkpoint.saved',
  'workflow.checkpoint.resumed',
  'plan.created',
  'patch.created',
  'test.passed',
  'test.failed',
  'result.summary',
  'decision.made',
  'claim.verified',
  'verifier.issue.found',
  'progress.checkpoint',
  'blackboard.item.created',
  'blackboard.item.updated',
  'context.compacted',
  'budget.warning',
  'budget.exceeded',
  'retry.scheduled',
  'handoff.loop_detected',
] as const satisfies readonly EventType[]
export type MarkType = (typeof markTypes)[number]

const marks: ReadonlySet<string> = new Set(markTypes)

/** Whether an event of this type is shown as a leaf. */
export const isMark = (type: string): type is MarkType => marks.has(type)
