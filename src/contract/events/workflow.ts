import * as z from 'zod'
import { family } from '../event-definition.ts'
import { Body, ClaimVerdict, Count, Line, Millis, Raw, Timestamp, Verdict } from '../values.ts'

const workflow = { workflowId: Line } as const
const phase = { ...workflow, phase: Line } as const

export const workflowEvents = family({
  'workflow.created': {
    about: 'A workflow script was written, or the plan of a crew.',
    span: 'point',
    payload: z.strictObject({
      ...workflow,
      script: Body,
      phases: z.array(Line),
      estimatedTokens: Count.optional(),
      /** How many agents may work at a time. */
      fanOut: Count.optional(),
      name: Line.optional(),
    }),
  },
  'workflow.approved': {
    about: 'A person confirmed the workflow before it ran, or it went on unasked and says why.',
    span: 'point',
    payload: z.strictObject({
      ...workflow,
      approvedAt: Timestamp,
      approvedBy: Line,
      reason: Line.optional(),
    }),
  },
  'workflow.started': {
    about: 'A workflow run began.',
    span: 'start',
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
  },
  'workflow.finalized': {
    about: 'The final synthesis was returned to the user.',
    span: 'end',
    payload: z.strictObject({
      ...workflow,
      totalTokens: Count,
      totalAgents: Count,
      durationMs: Millis,
      result: z.unknown().optional(),
    }),
  },
  'workflow.failed': {
    about: 'A workflow run ended in an error.',
    span: 'end',
    payload: z.strictObject({
      ...workflow,
      error: Body,
      reason: Line.optional(),
      /** What it had come to before it failed. */
      partial: z.unknown().optional(),
      totalTokens: Count.optional(),
      totalAgents: Count.optional(),
      durationMs: Millis.optional(),
    }),
  },
  'workflow.cancelled': {
    about: 'A workflow run was called off.',
    span: 'end',
    payload: z.strictObject({
      ...workflow,
      by: Line.optional(),
      reason: Line.optional(),
      durationMs: Millis.optional(),
    }),
  },
  'workflow.phase.started': {
    about: 'The script entered a named phase.',
    span: 'start',
    payload: z.strictObject({ ...phase, inputCount: Count }),
  },
  'workflow.phase.completed': {
    about: 'A phase ended well.',
    span: 'end',
    payload: z.strictObject({ ...phase, outputCount: Count, tokens: Count }),
  },
  'workflow.phase.failed': {
    about: 'A phase ended in an error.',
    span: 'end',
    payload: z.strictObject({ ...phase, error: Body, reason: Line.optional(), tokens: Count.optional() }),
  },
  'workflow.node.enter': {
    about: 'A workflow node was entered.',
    span: 'start',
    payload: z.strictObject({ workflowId: Line.optional(), node: Line, input: z.unknown().optional() }),
  },
  'workflow.node.exit': {
    about: 'A workflow node was left.',
    span: 'end',
    payload: z.strictObject({
      workflowId: Line.optional(),
      node: Line,
      outcome: z.enum(['ok', 'failed', 'skipped', 'cancelled']),
      edge: Line.optional(),
    }),
  },
  'workflow.checkpoint.saved': {
    about: 'The state of a workflow was saved.',
    span: 'point',
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
  },
  'workflow.signalled': {
    about: 'Something was told to a workflow that waits for it, or will.',
    span: 'point',
    payload: z.strictObject({ ...workflow, topic: Line, vault: Line.optional() }),
  },
  'workflow.checkpoint.resumed': {
    about: 'A workflow went on from a checkpoint.',
    span: 'point',
    payload: z.strictObject({ ...phase, resumedAt: Timestamp, checkpointId: Line.optional() }),
  },
  'loop.round.started': {
    about: 'A round of a refinement loop began.',
    span: 'start',
    payload: z.strictObject({ round: Count, maxRounds: Count.optional(), taskId: Line.optional() }),
  },
  'loop.round.completed': {
    about: 'A round of a refinement loop ended.',
    span: 'end',
    payload: z.strictObject({
      round: Count,
      maxRounds: Count.optional(),
      verdict: Verdict.optional(),
      taskId: Line.optional(),
      reason: Line.optional(),
    }),
  },
  'claim.verified': {
    about: 'A verifier judged a claim, for or against.',
    span: 'point',
    payload: z.strictObject({
      findingId: Line,
      verifierAgentId: Line,
      verdict: ClaimVerdict,
      evidence: z.unknown(),
      sourceAgentId: Line.optional(),
    }),
  },
  'verifier.issue.found': {
    about: 'A verifier or reviewer raised an issue.',
    span: 'point',
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
  },
})
