import type { workflowEvents } from '../../../contract/events/workflow.ts'
import type { Titles } from '../title.ts'

/** Titles of workflow runs, their phases, rounds and verdicts. */
export const workflowTitles: Titles<keyof typeof workflowEvents> = {
  'workflow.created': ({ payload: p }) => [p.name ?? p.workflowId],
  'workflow.approved': ({ payload: p }) => [p.approvedBy],
  'workflow.started': ({ payload: p }) => [p.name ?? p.workflowId],
  'workflow.finalized': ({ payload: p }) => [p.workflowId],
  'workflow.failed': ({ payload: p }) => [p.reason ?? p.error],
  'workflow.cancelled': ({ payload: p }) => [p.by, p.reason],
  'workflow.phase.started': ({ payload: p }) => [p.phase],
  'workflow.phase.completed': ({ payload: p }) => [p.phase],
  'workflow.phase.failed': ({ payload: p }) => [p.phase, p.reason ?? p.error],
  'workflow.node.enter': ({ payload: p }) => [p.node],
  'workflow.node.exit': ({ payload: p }) => [p.node, p.outcome, p.edge],
  'workflow.checkpoint.saved': ({ payload: p }) => [p.phase, p.checkpointId ?? p.step],
  'workflow.signalled': ({ payload: p }) => [p.topic],
  'workflow.checkpoint.resumed': ({ payload: p }) => [p.phase, p.checkpointId],
  'loop.round.started': ({ payload: p }) => ['round', p.round, p.taskId],
  'loop.round.completed': ({ payload: p }) => ['round', p.round, p.verdict, p.reason],
  'claim.verified': ({ payload: p }) => [p.findingId, p.verdict],
  'verifier.issue.found': ({ payload: p }) => [p.severity, p.category, p.file, p.description],
}
