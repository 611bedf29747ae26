import * as z from 'zod'
import { event } from '../event-definition.ts'
import { subjectOf } from '../tool-subject.ts'
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

export const toolEvents = {
  'tool.call.started': event({
    about: 'A tool call began.',
    reporter: 'session',
    opens: 'tool',
    sse: ['AgentStatus'],
    std008: 'tool_calls[]',
    title: ({ payload: p }) => [p.tool, p.rawCommand ?? subjectOf(p.params) ?? p.description],
    search: ({ payload: p }) => [p.rawCommand, p.description, p.params],
    payload: z.strictObject({
      ...call,
      category: ToolCategory.optional(),
      params: JsonObject.optional(),
      description: Body.optional(),
      rawCommand: Body.optional(),
      raw: Raw.optional(),
    }),
  }),
  'tool.call.completed': event({
    about: 'A tool call succeeded.',
    reporter: 'session',
    closes: 'tool',
    sse: ['AgentStatus'],
    std008: 'tool_calls[]',
    title: ({ payload: p }) => [p.tool],
    search: ({ payload: p }) => [p.result, p.error],
    payload: z.strictObject(ended),
  }),
  'tool.call.failed': event({
    about: 'A tool call failed.',
    reporter: 'session',
    closes: 'tool',
    sse: ['AgentStatus'],
    std008: 'tool_calls[]',
    title: ({ payload: p }) => [p.tool, p.reason ?? p.error],
    search: ({ payload: p }) => [p.reason, p.error, p.result],
    payload: z.strictObject({ ...ended, exitCode: z.int().optional(), reason: Line.optional() }),
  }),
  'tool.call.denied': event({
    about: 'A permission check refused a tool call.',
    reporter: 'session',
    closes: 'tool',
    sse: ['AgentStatus'],
    std008: 'tool_calls[]',
    title: ({ payload: p }) => [p.tool, p.gate, p.reason],
    search: ({ payload: p }) => [p.reason, p.rule],
    payload: z.strictObject({
      ...call,
      gate: z.enum(['tool', 'policy', 'scope', 'delegation', 'approval', 'budget']),
      reason: Body,
      rule: Line.optional(),
    }),
  }),
  'llm.request.started': event({
    about: 'A model was called.',
    reporter: 'operator',
    opens: 'llm',
    sse: ['AgentStatus'],
    title: ({ payload: p }) => [p.model],
    payload: z.strictObject({
      provider: Line.optional(),
      model: Line,
      attempt: Count.optional(),
      messages: Count.optional(),
      inputTokensEstimate: Count.optional(),
    }),
  }),
  'llm.request.completed': event({
    about: 'A model answered; one row of the token ledger, keyed by the response id.',
    reporter: 'operator',
    closes: 'llm',
    sse: ['AgentStatus', 'StateUpdated'],
    std008: 'subagent_info.tokens_used',
    title: ({ payload: p }) => [p.model, p.finishReason],
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
  }),
  'llm.request.failed': event({
    about: 'A model call failed.',
    reporter: 'operator',
    closes: 'llm',
    sse: ['AgentStatus', 'StateUpdated'],
    title: ({ payload: p }) => [p.model, p.error],
    search: ({ payload: p }) => [p.error],
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
  }),
  'llm.usage.corrected': event({
    about: 'A later source gave better figures for a model call; the last one wins.',
    reporter: 'operator',
    isLate: true,
    std008: 'subagent_info.tokens_used',
    title: ({ payload: p }) => [p.model, p.source],
    payload: z.strictObject({
      responseId: Line,
      model: Line.optional(),
      usage: Tokens,
      costUsd: z.number().nonnegative().optional(),
      source: Line.optional(),
    }),
  }),
  'patch.created': event({
    about: 'A change to files was made.',
    reporter: 'session',
    std008: 'summary.files_created, files_modified',
    title: ({ payload: p }) => [...p.files.slice(0, 5).map((file) => file.path), p.commit],
    search: ({ payload: p }) => [p.commit, p.files.map((file) => file.path), p.diff],
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
  }),
  'test.passed': event({
    about: 'A check of the project passed.',
    reporter: 'session',
    isLate: true,
    title: ({ payload: p }) => [p.command, p.passed],
    search: ({ payload: p }) => [p.command, p.output],
    payload: z.strictObject({
      command: Body.optional(),
      passed: Count.optional(),
      commit: Line.optional(),
      output: Body.optional(),
      durationMs: Millis.optional(),
    }),
  }),
  'test.failed': event({
    about: 'A check of the project failed.',
    reporter: 'session',
    isLate: true,
    title: ({ payload: p }) => [p.command, p.failed],
    search: ({ payload: p }) => [p.command, p.output],
    payload: z.strictObject({
      command: Body.optional(),
      passed: Count.optional(),
      failed: Count.optional(),
      commit: Line.optional(),
      output: Body.optional(),
      durationMs: Millis.optional(),
    }),
  }),
  'budget.warning': event({
    about: 'A budget is nearly used up.',
    reporter: 'daemon',
    sm: { words: ['budget'], says: ({ payload: p }) => `: ${p.used} of ${p.limit} ${p.budget} used` },
    title: ({ payload: p }) => [p.budget, `${p.used} of ${p.limit}`, p.scope],
    payload: z.strictObject({
      budget: z.enum(['tokens', 'usd', 'time', 'iterations']),
      used: z.number(),
      limit: z.number(),
      scope: Line.optional(),
    }),
  }),
  'budget.exceeded': event({
    about: 'A budget is used up.',
    reporter: 'daemon',
    std008: 'summary.errors_encountered',
    sm: { words: ['budget'], says: ({ payload: p }) => `: ${p.used} of ${p.limit} ${p.budget} used` },
    title: ({ payload: p }) => [p.budget, `${p.used} of ${p.limit}`, p.scope],
    payload: z.strictObject({
      budget: z.enum(['tokens', 'usd', 'time', 'iterations']),
      used: z.number(),
      limit: z.number(),
      scope: Line.optional(),
      action: Line.optional(),
    }),
  }),
}
