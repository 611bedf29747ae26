import * as z from 'zod'
import { CrewReport } from './collaboration/crew-report.ts'
import { Choices, CrewBudget, CrewPattern } from './crew.ts'
import { route } from './route.ts'
import { places } from './route-places.ts'
import { ScriptLimits } from './script.ts'
import { SessionRef } from './session-routes.ts'
import { ApprovalView } from './session-views.ts'
import { Count, WorkflowOutcome } from './values.ts'

const text = z.string().nullable()
/** A workflow: its id, or its session. */
const WorkflowRef = z.string().min(1).max(200)

/** A run of a workflow as lists show it. */
export const WorkflowView = z.strictObject({
  workflow_id: z.string(),
  session_id: z.string(),
  name: z.string(),
  /** What was asked for. */
  title: text,
  version: text,
  /**
   * `pending`: it was begun under a version that is not there; a script can be forked. `rejected`: a reviewer or a
   * person did not accept its work, its plan or its script.
   */
  status: z.enum(['running', 'pending', ...WorkflowOutcome.options]),
  phase: text,
  steps: Count,
  agents: Count.nullable(),
  tokens: Count.nullable(),
  detail: text,
  fork_of: text,
  working_dir: text,
  branch: text,
  /** The session file that is written as it goes. */
  session_file: text,
  started_at: text,
  ended_at: text,
})
export type WorkflowView = z.infer<typeof WorkflowView>

/** One task of a workflow as it stands. */
const WorkflowTask = z.strictObject({
  task_id: z.string(),
  description: text,
  status: z.string(),
  agent: text,
  dependencies: z.array(z.string()),
  detail: text,
})

/** One workflow with all that can be known of it at a glance. */
export const WorkflowDetail = z.strictObject({
  ...WorkflowView.shape,
  tasks: z.array(WorkflowTask),
  approvals: z.array(ApprovalView),
  report: CrewReport.nullable(),
  /** The same as a person reads it, in Markdown. */
  report_text: text,
  /** What a script returned. */
  result: z.unknown(),
  /** What was done before it failed: the answers of a script's agents, the branches of a crew's tasks. */
  partial: z.unknown(),
})
export type WorkflowDetail = z.infer<typeof WorkflowDetail>

export const workflowRoutes = {
  startCrew: route({
    ...places.startCrew,
    access: 'session',
    input: z.strictObject({
      request: z.string().min(1).max(200_000),
      project_root: z.string().min(1).max(4096),
      /** Left out: the crew that its pattern names, or `balanced`. */
      crew: z.string().min(1).max(64).optional(),
      pattern: CrewPattern.optional(),
      /** What can be voted for, of a crew that votes on a question. */
      choices: Choices.optional(),
      /** Who fills every place, instead of what the crew says. */
      cli: z.string().min(1).max(64).optional(),
      model: z.string().min(1).max(200).optional(),
      max_iterations: z.int().min(1).max(20).optional(),
      budget: CrewBudget.optional(),
      approve_plan: z.boolean().optional(),
      name: z.string().min(1).max(64).optional(),
      parent: SessionRef.optional(),
    }),
    output: z.strictObject({
      workflow_id: z.string(),
      session_id: z.string(),
      branch: z.string(),
      /** Who works, and why they were chosen, in a line for people. */
      why: z.string(),
    }),
    summary: 'Have a crew plan, carry out and review a request',
  }),
  startScript: route({
    ...places.startScript,
    access: 'session',
    input: z.strictObject({
      /** Its name, or the path of its file from the project. */
      script: z.string().min(1).max(4096),
      project_root: z.string().min(1).max(4096),
      args: z.unknown().optional(),
      /** Who does the work unless the script says; chosen when left out. */
      cli: z.string().min(1).max(64).optional(),
      limits: ScriptLimits.extend({
        concurrency: ScriptLimits.shape.concurrency.default(8),
        agents: ScriptLimits.shape.agents.default(1000),
      }).prefault({}),
      /** The caller has seen what it will do; else it asks before anything runs. */
      approved: z.boolean().optional(),
      /** Nobody can be asked where it is started: without approval it is refused instead of waiting. */
      unattended: z.boolean().optional(),
      /** A person agrees that it runs without walls where this machine has none. */
      unsafe: z.boolean().optional(),
    }),
    output: z.strictObject({ workflow_id: z.string(), session_id: z.string(), why: z.string() }),
    summary: 'Run a workflow script',
  }),
  listWorkflows: route({
    ...places.listWorkflows,
    access: 'session',
    input: z.strictObject({ limit: z.coerce.number<number>().int().min(1).max(500).default(50) }),
    output: z.strictObject({ workflows: z.array(WorkflowView) }),
    summary: 'Workflows, newest first',
  }),
  getWorkflow: route({
    ...places.getWorkflow,
    access: 'session',
    input: z.strictObject({ id: WorkflowRef }),
    output: WorkflowDetail,
    summary: 'One workflow: its tasks, what it asks, and its report',
  }),
  cancelWorkflow: route({
    ...places.cancelWorkflow,
    access: 'session',
    input: z.strictObject({ id: WorkflowRef, reason: z.string().max(1000).optional() }),
    output: WorkflowView,
    summary: 'End a workflow and every agent that works for it',
  }),
  resumeWorkflow: route({
    ...places.resumeWorkflow,
    access: 'session',
    input: z.strictObject({ id: WorkflowRef }),
    output: WorkflowView,
    summary: 'Resume a workflow that has stopped',
  }),
  forkWorkflow: route({
    ...places.forkWorkflow,
    // Whoever approved a script approved one run of it, so that only a person begins another.
    access: 'operate',
    input: z.strictObject({
      id: WorkflowRef,
      before: z.string().max(2000).optional(),
      unsafe: z.boolean().optional(),
    }),
    output: z.strictObject({ workflow_id: z.string(), session_id: z.string() }),
    summary: 'Start a new workflow from what this one had done before a step',
  }),
} as const
