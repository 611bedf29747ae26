import * as z from 'zod'
import { family } from '../event-definition.ts'
import { SpanId } from '../ids.ts'
import {
  Activity,
  Agent,
  AgentKind,
  Body,
  Count,
  JsonObject,
  Line,
  Millis,
  Priority,
  Raw,
  Tokens,
} from '../values.ts'

/** What an item of a blackboard is. */
export const BoardItemType = z.enum(['fact', 'hypothesis', 'artifact', 'decision', 'task'])

/** The work an agent was given. */
export const Assignment = z.strictObject({
  taskId: Line,
  description: Body,
  priority: Priority.optional(),
  dependencies: z.array(Line).optional(),
  raw: Raw.optional(),
})

const ending = {
  agentId: Line,
  tokens: Count.optional(),
  usage: Tokens.optional(),
  durationMs: Millis.optional(),
  reason: Line.optional(),
  detail: Body.optional(),
  /** Developer, reviewer or generic output in the shape the documents give it. */
  output: z.unknown().optional(),
  raw: Raw.optional(),
} as const

export const agentEvents = family({
  'agent.spawned': {
    about: 'An agent was started: delegated by a run, spawned as a session, or called by a workflow.',
    span: 'start',
    payload: z.strictObject({
      agentId: Line,
      agentType: Line,
      instanceId: Line.optional(),
      kind: AgentKind.optional(),
      agentTask: Body.optional(),
      task: Assignment.optional(),
      /** The call of the parent that asked for this agent. */
      triggeredByCallId: Line.optional(),
      parentSpanId: SpanId.optional(),
      model: Line.optional(),
      depth: Count.optional(),
      /** The id of the sub-session in the file it was imported from. */
      foreignId: Line.optional(),
      foreignParentId: Line.optional(),
      raw: Raw.optional(),
    }),
  },
  'agent.completed': {
    about: 'An agent returned.',
    span: 'end',
    payload: z.strictObject({
      ...ending,
      /** What its answer was held to: `text`, `reply:<kind>` in a crew, `schema:<title>@<digest>` in a script. */
      resultSchema: z.unknown().optional(),
    }),
  },
  'agent.failed': {
    about: 'An agent ended without its result; giving up is a failure too.',
    span: 'end',
    payload: z.strictObject({ ...ending, error: Body.optional() }),
  },
  'agent.cancelled': {
    about: 'An agent was told to stop, or its parent was.',
    span: 'end',
    payload: z.strictObject({ ...ending, by: Line.optional() }),
  },
  'agent.killed': {
    about: 'An agent was ended by force.',
    span: 'end',
    payload: z.strictObject({ ...ending, by: Line.optional() }),
  },
  'agent.abandoned': {
    about: 'An agent lost its parent without being cancelled; it can be adopted.',
    span: 'end',
    payload: z.strictObject(ending),
  },
  'agent.idle': {
    about: 'An agent does nothing and waits for nothing; an observation, not an end.',
    span: 'point',
    payload: z.strictObject({ agentId: Line, idleMs: Millis.optional(), evidence: Line.optional() }),
  },
  'agent.waiting': {
    about: 'An agent waits for an answer, a permission or background work.',
    span: 'point',
    payload: z.strictObject({
      agentId: Line,
      waitsFor: z.enum(['input', 'permission', 'background', 'limit', 'child']),
      question: Body.optional(),
      options: z.array(Line).optional(),
    }),
  },
  'agent.status.changed': {
    about: 'The live status of a run changed.',
    span: 'point',
    payload: z.strictObject({ agentId: Line, status: Activity, detail: Line.optional() }),
  },
  'agent.task.assigned': {
    about: 'A task was given to an agent.',
    span: 'start',
    payload: z.strictObject({
      ...Assignment.shape,
      agentId: Line,
      assignedBy: Line.optional(),
      input: z.unknown().optional(),
    }),
  },
  'task.completed': {
    about: 'A task ended with its work done.',
    span: 'end',
    payload: z.strictObject({
      agentId: Line.optional(),
      summary: Body.optional(),
      output: z.unknown().optional(),
    }),
  },
  'task.failed': {
    about: 'A task ended with its work not done.',
    span: 'end',
    payload: z.strictObject({
      agentId: Line.optional(),
      reason: Line.optional(),
      error: Body.optional(),
      errorType: z.enum(['timeout', 'exception', 'scope_violation', 'resource_limit']).optional(),
      recoverable: z.boolean().optional(),
      suggestedAction: z.enum(['retry', 'reassign', 'abort', 'manual']).optional(),
    }),
  },
  'task.cancelled': {
    about: 'A task was called off.',
    span: 'end',
    payload: z.strictObject({ agentId: Line.optional(), reason: Line.optional() }),
  },
  'handoff.requested': {
    about: 'An agent asked to pass control to another.',
    span: 'start',
    payload: z.strictObject({
      from: Agent,
      to: Agent,
      reason: Body,
      context: z.unknown().optional(),
      contextDigest: Line.optional(),
    }),
  },
  'handoff.accepted': {
    about: 'The other agent took control.',
    span: 'end',
    payload: z.strictObject({ from: Agent, to: Agent, reason: Body.optional() }),
  },
  'handoff.rejected': {
    about: 'The other agent did not take control.',
    span: 'end',
    payload: z.strictObject({ from: Agent, to: Agent, reason: Body }),
  },
  'handoff.loop_detected': {
    about: 'Control went round in a circle and was stopped.',
    span: 'point',
    payload: z.strictObject({ cycle: z.array(Line), count: Count, limit: Count }),
  },
  'plan.created': {
    about: 'An agent made a plan.',
    span: 'point',
    payload: z.strictObject({
      planId: Line.optional(),
      plan: z.unknown(),
      tasks: z.array(Assignment).optional(),
    }),
  },
  'decision.made': {
    about: 'A choice among candidates, with its reason.',
    span: 'point',
    payload: z.strictObject({
      decisionId: Line.optional(),
      subject: z.enum(['agent', 'tool', 'model', 'approach', 'retry', 'route', 'other']),
      candidates: z.array(z.unknown()),
      choice: z.unknown(),
      reason: Body.optional(),
      confidence: z.union([z.number(), z.enum(['high', 'medium', 'low'])]).optional(),
    }),
  },
  'retry.scheduled': {
    about: 'Something failed and will be tried again.',
    span: 'point',
    payload: z.strictObject({
      what: Line,
      attempt: Count,
      maxAttempts: Count.optional(),
      delayMs: Millis,
      reason: Body.optional(),
    }),
  },
  'blackboard.item.created': {
    about: 'Shared state was written.',
    span: 'point',
    payload: z.strictObject({
      itemId: Line,
      itemType: BoardItemType,
      content: z.unknown(),
      sourceAgent: Line,
      confidence: z.number().min(0).max(1).optional(),
      ttlMs: Millis.optional(),
      version: Count.optional(),
      metadata: JsonObject.optional(),
    }),
  },
  'blackboard.item.updated': {
    about: 'Shared state was changed; a version that does not match is a conflict.',
    span: 'point',
    payload: z.strictObject({
      itemId: Line,
      itemType: BoardItemType.optional(),
      content: z.unknown(),
      sourceAgent: Line,
      confidence: z.number().min(0).max(1).optional(),
      ttlMs: Millis.optional(),
      version: Count,
      conflict: z.boolean().optional(),
      metadata: JsonObject.optional(),
    }),
  },
})
