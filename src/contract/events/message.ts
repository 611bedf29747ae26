import * as z from 'zod'
import { family } from '../event-definition.ts'
import {
  Agent,
  ApprovalSubject,
  Body,
  Count,
  JsonObject,
  Line,
  Millis,
  Permit,
  Raw,
  Timestamp,
} from '../values.ts'
import { Detection } from './session.ts'

/** Every kind of message written; `status_update` is read and becomes one of these. */
export const MessageType = z.enum([
  'task_assignment',
  'task_progress',
  'task_completion',
  'review_request',
  'review_result',
  'feedback',
  'status_query',
  'status_response',
  'abort',
  'acknowledgment',
])
export type MessageType = z.infer<typeof MessageType>

const receipt = {
  messageId: Line,
  to: Line.optional(),
  attempt: Count.optional(),
  detail: Line.optional(),
} as const

const approval = {
  approvalId: Line,
  subject: ApprovalSubject,
} as const

const decided = {
  ...approval,
  by: Line,
  reason: Body.optional(),
  latencyMs: Millis.optional(),
} as const

export const messageEvents = family({
  'agent.message.created': {
    about: 'An agent or a person said something to another.',
    span: 'point',
    payload: z.strictObject({
      messageId: Line,
      sequenceNumber: Count.optional(),
      from: Agent,
      to: Agent,
      messageType: MessageType.optional(),
      /** The payload in the shape the protocol gives it for this message type. */
      payload: z.unknown().optional(),
      text: Body.optional(),
      correlationId: Line.optional(),
      replyTo: Line.optional(),
      raw: Raw.optional(),
    }),
  },
  'message.queued': {
    about: 'A message waits for delivery; its raw text is in the vault.',
    span: 'start',
    payload: z.strictObject({
      ...receipt,
      /** When it goes: once the agent is idle, at the next boundary, or at once with an interrupt. */
      mode: z.enum(['sequential', 'important', 'urgent']).optional(),
      /** How it goes: typed into the terminal, given to the program at its start, as the answer to a question, or to an agent of Muster's own. */
      by: z.enum(['terminal', 'launch', 'answer', 'runtime']).optional(),
      preview: z.string().max(2048).optional(),
      vault: Line.optional(),
      from: Line.optional(),
    }),
  },
  'message.delivered': {
    about: 'A message reached the terminal or the queue of its agent.',
    span: 'point',
    payload: z.strictObject({ ...receipt, stage: z.enum(['pasted', 'submitted', 'injected']).optional() }),
  },
  'message.accepted': {
    about: 'The agent took the message; proved by a hook or its transcript.',
    span: 'end',
    payload: z.strictObject({
      ...receipt,
      /** What shows it; `screen` is all there is for a program that tells nothing. */
      proof: z.enum(['hook', 'transcript', 'runtime', 'answer', 'screen']).optional(),
    }),
  },
  'message.failed': {
    about: 'A message could not be delivered and is a dead letter.',
    span: 'end',
    payload: z.strictObject({
      ...receipt,
      errorType: z.enum(['timeout', 'rejected', 'malformed', 'gone']),
      reason: Body.optional(),
      retryCount: Count.optional(),
      maxRetries: Count.optional(),
      nextRetryAt: Timestamp.optional(),
    }),
  },
  'approval.requested': {
    about: 'A person or parent is asked to decide.',
    span: 'start',
    payload: z.strictObject({
      ...approval,
      action: Body,
      reason: Body.optional(),
      scope: z.unknown().optional(),
      diff: Body.optional(),
      rollback: Body.optional(),
      risk: z.enum(['low', 'medium', 'high']).optional(),
      options: z.array(Line).optional(),
      timeoutMs: Millis.optional(),
      askedOf: Line.optional(),
      /** What the question rests on when it was raised by a guess. */
      detected: Detection.optional(),
    }),
  },
  'approval.granted': {
    about: 'The answer was yes.',
    span: 'end',
    payload: z.strictObject({
      ...decided,
      scope: z.enum(['once', 'session', 'always']).optional(),
      answer: z.unknown().optional(),
      /** What Muster lets pass from now on, where the CLI cannot remember it itself. */
      permit: Permit.optional(),
    }),
  },
  'approval.rejected': {
    about: 'The answer was no.',
    span: 'end',
    payload: z.strictObject(decided),
  },
  'approval.expired': {
    about: 'Nobody answered in time, or the question became moot.',
    span: 'end',
    payload: z.strictObject({ ...approval, reason: Body.optional() }),
  },
  'effect.intended': {
    about: 'Something outside is about to be done (paste, git, webhook).',
    span: 'start',
    payload: z.strictObject({
      effectId: Line,
      effect: Line,
      target: Line.optional(),
      detail: JsonObject.optional(),
    }),
  },
  'effect.done': {
    about: 'The outside effect has its receipt.',
    span: 'end',
    payload: z.strictObject({ effectId: Line, effect: Line, receipt: z.unknown().optional() }),
  },
  'effect.unknown': {
    about: 'An intent was left without a receipt by a crash; it is reported, never repeated.',
    span: 'end',
    payload: z.strictObject({ effectId: Line, effect: Line, reason: Line.optional() }),
  },
})
