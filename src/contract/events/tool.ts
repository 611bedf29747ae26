import * as z from 'zod'
import { family } from '../event-definition.ts'
import {
  Body,
  Count,
  JsonObject,
  Line,
  Millis,
  ModelFailureKind,
  Raw,
  Tokens,
  ToolCategory,
} from '../values.ts'

/** What a delegating call says of the agent it started; STD-001's SubagentInfo. */
export const SubagentInfo = z.strictObject({
  subagentType: Line,
  subSessionId: Line.optional(),
  toolUses: Count.optional(),
  tokensUsed: Count.optional(),
  toolsBreakdown: z.array(z.strictObject({ toolName: Line, count: Count, raw: Raw.optional() })).optional(),
  raw: Raw.optional(),
})

const call = {
  callId: Line,
  tool: Line,
} as const

const ended = {
  ...call,
  durationMs: Millis.optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
  truncated: z.boolean().optional(),
  contextContribution: z.unknown().optional(),
  subagent: SubagentInfo.optional(),
  /** The name under which the vault keeps what the model was answered. */
  vault: Line.optional(),
  raw: Raw.optional(),
} as const

export const toolEvents = family({
  'tool.call.started': {
    about: 'A tool call began.',
    span: 'start',
    payload: z.strictObject({
      ...call,
      category: ToolCategory.optional(),
      params: JsonObject.optional(),
      description: Body.optional(),
      rawCommand: Body.optional(),
      raw: Raw.optional(),
    }),
  },
  'tool.call.completed': {
    about: 'A tool call ended well.',
    span: 'end',
    payload: z.strictObject(ended),
  },
  'tool.call.failed': {
    about: 'A tool call ended in an error.',
    span: 'end',
    payload: z.strictObject({ ...ended, exitCode: z.int().optional(), reason: Line.optional() }),
  },
  'tool.call.denied': {
    about: 'A gate refused a tool call.',
    span: 'end',
    payload: z.strictObject({
      ...call,
      gate: z.enum(['tool', 'policy', 'scope', 'delegation', 'approval', 'budget']),
      reason: Body,
      rule: Line.optional(),
    }),
  },
  'llm.request.started': {
    about: 'A model was called.',
    span: 'start',
    payload: z.strictObject({
      provider: Line.optional(),
      model: Line,
      attempt: Count.optional(),
      messages: Count.optional(),
      inputTokensEstimate: Count.optional(),
    }),
  },
  'llm.request.completed': {
    about: 'A model answered; one row of the token ledger, keyed by the response id.',
    span: 'end',
    payload: z.strictObject({
      responseId: Line,
      provider: Line.optional(),
      model: Line,
      usage: Tokens,
      costUsd: z.number().nonnegative().optional(),
      billing: z.enum(['api', 'plan']).optional(),
      durationMs: Millis.optional(),
      finishReason: Line.optional(),
      source: z.enum(['runtime', 'hook', 'transcript', 'otlp', 'import']).optional(),
      /** The name under which the vault keeps what the conversation gained by it. */
      vault: Line.optional(),
    }),
  },
  'llm.request.failed': {
    about: 'A model call failed.',
    span: 'end',
    payload: z.strictObject({
      provider: Line.optional(),
      model: Line,
      error: Body,
      /** Absent when the call was cancelled. */
      kind: ModelFailureKind.optional(),
      status: z.int().optional(),
      retryAfterMs: Millis.optional(),
      durationMs: Millis.optional(),
    }),
  },
  'llm.usage.corrected': {
    about: 'A later source gave better figures for a model call; the last one wins.',
    span: 'point',
    payload: z.strictObject({
      responseId: Line,
      model: Line.optional(),
      usage: Tokens,
      costUsd: z.number().nonnegative().optional(),
      source: Line.optional(),
    }),
  },
  'patch.created': {
    about: 'A change to files was made.',
    span: 'point',
    payload: z.strictObject({
      files: z.array(
        z.strictObject({
          path: Line,
          change: z.enum(['created', 'modified', 'deleted']),
          linesAdded: Count.optional(),
          linesRemoved: Count.optional(),
          description: Body.optional(),
        }),
      ),
      diff: Body.optional(),
      commit: Line.optional(),
    }),
  },
  'test.passed': {
    about: 'A check of the project passed.',
    span: 'point',
    payload: z.strictObject({
      command: Body.optional(),
      passed: Count.optional(),
      commit: Line.optional(),
      output: Body.optional(),
      durationMs: Millis.optional(),
    }),
  },
  'test.failed': {
    about: 'A check of the project failed.',
    span: 'point',
    payload: z.strictObject({
      command: Body.optional(),
      passed: Count.optional(),
      failed: Count.optional(),
      commit: Line.optional(),
      output: Body.optional(),
      durationMs: Millis.optional(),
    }),
  },
  'budget.warning': {
    about: 'A budget is nearly used up.',
    span: 'point',
    payload: z.strictObject({
      budget: z.enum(['tokens', 'usd', 'time', 'iterations']),
      used: z.number(),
      limit: z.number(),
      scope: Line.optional(),
    }),
  },
  'budget.exceeded': {
    about: 'A budget is used up.',
    span: 'point',
    payload: z.strictObject({
      budget: z.enum(['tokens', 'usd', 'time', 'iterations']),
      used: z.number(),
      limit: z.number(),
      scope: Line.optional(),
      action: Line.optional(),
    }),
  },
})
