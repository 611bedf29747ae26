import * as z from 'zod'
import { event } from '../event-definition.ts'
import { Body, ClaimVerdict, Count, Line, Millis, Raw, Timestamp, Verdict } from '../values.ts'

const workflow = { workflowId: Line } as const
const phase = { ...workflow, phase: Line } as const

export const workflowEvents = {
  'workflow.created': event({
    about: 'A workflow script was written, or the plan of a crew.',
    reporter: 'operator',
    control: [],
    title: ({ payload: p }) => [p.name ?? p.workflowId],
    search: ({ payload: p }) => [p.name, p.workflowId, p.phases, p.script],
    payload: z.strictObject({
      ...workflow,
      script: Body,
      phases: z.array(Line),
      estimatedTokens: Count.optional(),
      /** How many agents may work at a time. */
      fanOut: Count.optional(),
      name: Line.optional(),
    }),
  }),
  'workflow.approved': event({
    about: 'A person confirmed the workflow before it ran, or it ran without asking and says why.',
    reporter: 'operator',
    control: [],
    title: ({ payload: p }) => [p.approvedBy],
    payload: z.strictObject({
      ...workflow,
      approvedAt: Timestamp,
      approvedBy: Line,
      reason: Line.optional(),
    }),
  }),
  'workflow.started': event({
    about: 'A workflow run began.',
    reporter: 'operator',
    control: ['vault'],
    opens: 'workflow',
    title: ({ payload: p }) => [p.name ?? p.workflowId],
    payload: z.strictObject({
      ...workflow,
      name: Line.optional(),
      input: z.unknown().optional(),
      version: Line.optional(),
      /** The name under which the vault keeps the input as it was given, and what it is compared by. */
      vault: Line.optional(),
      inputDigest: Line.optional(),
      /** The run that this one goes on from, and the step before which it left it. */
      forkOf: z.strictObject({ workflowId: Line, step: Line.optional() }).optional(),
    }),
  }),
  'workflow.finalized': event({
    about: 'The final synthesis was returned to the user.',
    reporter: 'operator',
    control: [],
    closes: 'workflow',
    title: ({ payload: p }) => [p.workflowId],
    search: ({ payload: p }) => [p.result],
    payload: z.strictObject({
      ...workflow,
      totalTokens: Count,
      totalAgents: Count,
      durationMs: Millis,
      result: z.unknown().optional(),
    }),
  }),
  'workflow.failed': event({
    about: 'A workflow run failed.',
    reporter: 'operator',
    control: [],
    closes: 'workflow',
    title: ({ payload: p }) => [p.reason ?? p.error],
    search: ({ payload: p }) => [p.error, p.reason],
    payload: z.strictObject({
      ...workflow,
      error: Body,
      reason: Line.optional(),
      /** `rejected`: it did its work, and a reviewer or a person did not accept it. */
      outcome: z.enum(['failed', 'rejected']).optional(),
      /** What it had come to before it failed. */
      partial: z.unknown().optional(),
      /** What it gave, where it came to its end and that was not what was asked for. */
      result: z.unknown().optional(),
      totalTokens: Count.optional(),
      totalAgents: Count.optional(),
      durationMs: Millis.optional(),
    }),
  }),
  'workflow.cancelled': event({
    about: 'A workflow run was cancelled.',
    reporter: 'operator',
    control: [],
    closes: 'workflow',
    title: ({ payload: p }) => [p.by, p.reason],
    payload: z.strictObject({
      ...workflow,
      by: Line.optional(),
      reason: Line.optional(),
      durationMs: Millis.optional(),
    }),
  }),
  'workflow.phase.started': event({
    about: 'The script entered a named phase.',
    reporter: 'operator',
    control: [],
    opens: 'phase',
    title: ({ payload: p }) => [p.phase],
    payload: z.strictObject({ ...phase, inputCount: Count }),
  }),
  'workflow.phase.completed': event({
    about: 'A phase succeeded.',
    reporter: 'operator',
    control: [],
    closes: 'phase',
    title: ({ payload: p }) => [p.phase],
    payload: z.strictObject({ ...phase, outputCount: Count, tokens: Count }),
  }),
  'workflow.phase.failed': event({
    about: 'A phase failed.',
    reporter: 'operator',
    control: [],
    closes: 'phase',
    title: ({ payload: p }) => [p.phase, p.reason ?? p.error],
    payload: z.strictObject({ ...phase, error: Body, reason: Line.optional(), tokens: Count.optional() }),
  }),
  'workflow.node.enter': event({
    about: 'A workflow node was entered.',
    reporter: 'operator',
    control: [],
    opens: 'node',
    title: ({ payload: p }) => [p.node],
    payload: z.strictObject({ workflowId: Line.optional(), node: Line, input: z.unknown().optional() }),
  }),
  'workflow.node.exit': event({
    about: 'A workflow node was left.',
    reporter: 'operator',
    control: [],
    closes: 'node',
    title: ({ payload: p }) => [p.node, p.outcome, p.edge],
    payload: z.strictObject({
      workflowId: Line.optional(),
      node: Line,
      outcome: z.enum(['ok', 'failed', 'skipped', 'cancelled']),
      edge: Line.optional(),
    }),
  }),
  'workflow.checkpoint.saved': event({
    about: 'The state of a workflow was saved.',
    reporter: 'operator',
    control: ['vault'],
    title: ({ payload: p }) => [p.phase, p.checkpointId ?? p.step],
    payload: z.strictObject({
      ...phase,
      stateBytes: Count,
      checkpointId: Line.optional(),
      /** The step that is done, by its path; it is not done again. */
      step: Line.optional(),
      /** The name under which the vault keeps what it gave. */
      vault: Line.optional(),
      /** The run that did it, of a step that a fork took along. */
      forkOf: Line.optional(),
      /** What it failed with. */
      error: Body.optional(),
      /** Agents that worked for it, and what they used. */
      agents: Count.optional(),
      tokens: Count.optional(),
    }),
  }),
  'workflow.signalled': event({
    about: 'Something was sent to a workflow that waits for it, now or later.',
    reporter: 'operator',
    control: ['vault'],
    title: ({ payload: p }) => [p.topic],
    payload: z.strictObject({ ...workflow, topic: Line, vault: Line.optional() }),
  }),
  'workflow.checkpoint.resumed': event({
    about: 'A workflow continued from a checkpoint.',
    reporter: 'operator',
    control: [],
    title: ({ payload: p }) => [p.phase, p.checkpointId],
    payload: z.strictObject({ ...phase, resumedAt: Timestamp, checkpointId: Line.optional() }),
  }),
  'loop.round.started': event({
    about: 'A round of a refinement loop began.',
    reporter: 'operator',
    control: [],
    opens: 'round',
    title: ({ payload: p }) => ['round', p.round, p.taskId],
    payload: z.strictObject({ round: Count, maxRounds: Count.optional(), taskId: Line.optional() }),
  }),
  'loop.round.completed': event({
    about: 'A round of a refinement loop ended.',
    reporter: 'operator',
    control: [],
    closes: 'round',
    std008: 'summary.review_iterations',
    title: ({ payload: p }) => ['round', p.round, p.verdict, p.reason],
    payload: z.strictObject({
      round: Count,
      maxRounds: Count.optional(),
      verdict: Verdict.optional(),
      taskId: Line.optional(),
      reason: Line.optional(),
    }),
  }),
  'claim.verified': event({
    about: 'A verifier judged a claim, for or against.',
    reporter: 'operator',
    control: [],
    isLate: true,
    sse: ['Message'],
    std008: 'review_result',
    title: ({ payload: p }) => [p.findingId, p.verdict],
    search: ({ payload: p }) => [p.findingId, p.evidence],
    payload: z.strictObject({
      findingId: Line,
      verifierAgentId: Line,
      verdict: ClaimVerdict,
      evidence: z.unknown(),
      sourceAgentId: Line.optional(),
    }),
  }),
  'verifier.issue.found': event({
    about: 'A verifier or reviewer raised an issue.',
    reporter: 'operator',
    control: [],
    isLate: true,
    sse: ['Message'],
    std008: 'findings[]',
    title: ({ payload: p }) => [p.severity, p.category, p.file, p.description],
    search: ({ payload: p }) => [p.description, p.suggestion, p.rationale, p.file],
    payload: z.strictObject({
      findingId: Line,
      severity: z.enum(['critical', 'major', 'minor', 'suggestion']),
      category: z.enum(['bug', 'security', 'performance', 'style', 'logic', 'test']),
      file: Line.optional(),
      line: Count.optional(),
      description: Body,
      suggestion: Body.optional(),
      rationale: Body.optional(),
      reviewId: Line.optional(),
      fixedInIteration: Count.optional(),
      raw: Raw.optional(),
    }),
  }),
}
