import * as z from 'zod'
import { WorkflowDetail, workflowRoutes } from '../workflow-routes.ts'

/** What the commands about workflows print with `--json`. */
export const workflowOutputs = {
  crew: WorkflowDetail,
  'workflow list': workflowRoutes.listWorkflows.output,
  'workflow show': WorkflowDetail,
  'workflow run': WorkflowDetail,
  'workflow resume': workflowRoutes.resumeWorkflow.output,
  'workflow fork': workflowRoutes.forkWorkflow.output,
  'workflow cancel': workflowRoutes.cancelWorkflow.output,
  demo: z.strictObject({
    /** False when it was not the first time; then there is nothing else. */
    played: z.boolean(),
    session_id: z.string().nullable(),
    session_file: z.string().nullable(),
    workflow_id: z.string().nullable(),
    branch: z.string().nullable(),
    repo: z.string(),
    verdict: z.string().nullable(),
    rounds: z.int().nullable(),
    /** What is left for a person to decide. */
    approval_id: z.string().nullable(),
  }),
} as const
