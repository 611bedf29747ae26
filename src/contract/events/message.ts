import * as z from 'zod'
import { event, quoted } from '../event-definition.ts'
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

export const messageEvents = {
  'queue.updated': event({
    about: 'The queue of messages waiting for an agent changed.',
    reporter: 'daemon',
    sse: ['QueueUpdated'],
    title: ({ payload: p }) => [p.agentId, p.items.length],
    payload: z.strictObject({
      projectRoot: Line.optional(),
      agentId: Line,
      items: z.array(
        z.strictObject({ id: Line, agentId: Line, preview: z.string().max(400), timestamp: Timestamp }),
      ),
    }),
  }),
  'agent.message.created': event({
    about: 'An agent or a person said something to another.',
    reporter: 'session',
    control: [],
    sse: ['Message'],
    std008: 'messages[]',
    title: ({ payload: p }) => [p.from.agentId, '→', p.to.agentId, p.messageType, p.text ?? p.payload],
    search: ({ payload: p }) => [p.text, p.payload],
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
  }),
  'message.queued': event({
    about: 'A message waits for delivery; its raw text is in the vault.',
    reporter: 'daemon',
    opens: 'message',
    title: ({ payload: p }) => [p.to, p.preview],
    search: ({ payload: p }) => [p.preview],
    payload: z.strictObject({
      ...receipt,
      /** When it goes: once the agent is idle, at the next boundary, or at once with an interrupt. */
      mode: z.enum(['sequential', 'important', 'urgent']).optional(),
      /** How it goes: typed into the terminal, given to the program at its start, as the answer to a question, or to a built-in agent. */
      by: z.enum(['terminal', 'launch', 'answer', 'runtime']).optional(),
      preview: z.string().max(2048).optional(),
      vault: Line.optional(),
      from: Line.optional(),
    }),
  }),
  'message.delivered': event({
    about: 'A message reached the terminal or the queue of its agent.',
    reporter: 'daemon',
    title: ({ payload: p }) => [p.to, p.stage, p.detail],
    payload: z.strictObject({ ...receipt, stage: z.enum(['pasted', 'submitted', 'injected']).optional() }),
  }),
  'message.accepted': event({
    about: 'The agent accepted the message; proved by a hook or its transcript.',
    reporter: 'daemon',
    closes: 'message',
    title: ({ payload: p }) => [p.to, p.proof, p.detail],
    payload: z.strictObject({
      ...receipt,
      /** What shows it; `screen` is all there is for a program that tells nothing. */
      proof: z.enum(['hook', 'transcript', 'runtime', 'answer', 'screen']).optional(),
    }),
  }),
  'message.failed': event({
    about: 'A message could not be delivered and is a dead letter.',
    reporter: 'daemon',
    closes: 'message',
    sm: {
      words: ['undelivered'],
      says: ({ payload: p }) => `: a message was not delivered${quoted(p.reason)}`,
      metadata: ({ payload: p }) => ({ message_id: p.messageId }),
    },
    title: ({ payload: p }) => [p.to, p.errorType, p.reason ?? p.detail],
    search: ({ payload: p }) => [p.reason, p.detail],
    payload: z.strictObject({
      ...receipt,
      errorType: z.enum(['timeout', 'rejected', 'malformed', 'gone']),
      reason: Body.optional(),
      retryCount: Count.optional(),
      maxRetries: Count.optional(),
      nextRetryAt: Timestamp.optional(),
    }),
  }),
  'approval.requested': event({
    about: 'A person or parent is asked to decide.',
    reporter: 'daemon',
    opens: 'approval',
    sm: {
      words: ['approval'],
      says: ({ payload: p }) => ` asks${quoted(p.action)}`,
      metadata: ({ payload: p }) => ({ approval_id: p.approvalId }),
    },
    title: ({ payload: p }) => [p.subject, p.action],
    search: ({ payload: p }) => [p.action, p.reason, p.scope, p.diff, p.rollback],
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
  }),
  'approval.granted': event({
    about: 'The answer was yes.',
    reporter: 'daemon',
    closes: 'approval',
    sm: {
      words: ['approved'],
      says: ({ payload: p }) => ` was allowed by ${p.by}`,
      metadata: ({ payload: p }) => ({ approval_id: p.approvalId }),
    },
    title: ({ payload: p }) => [p.subject, p.by, p.reason],
    search: ({ payload: p }) => [p.reason, p.answer],
    payload: z.strictObject({
      ...decided,
      scope: z.enum(['once', 'session', 'always']).optional(),
      answer: z.unknown().optional(),
      /** What Muster lets pass from now on, where the CLI cannot remember it itself. */
      permit: Permit.optional(),
    }),
  }),
  'approval.rejected': event({
    about: 'The answer was no.',
    reporter: 'daemon',
    closes: 'approval',
    sm: {
      words: ['rejected'],
      says: ({ payload: p }) => ` was refused by ${p.by}${quoted(p.reason)}`,
      metadata: ({ payload: p }) => ({ approval_id: p.approvalId }),
    },
    title: ({ payload: p }) => [p.subject, p.by, p.reason],
    search: ({ payload: p }) => [p.reason],
    payload: z.strictObject(decided),
  }),
  'approval.expired': event({
    about: 'Nobody answered in time, or the question became moot.',
    reporter: 'daemon',
    closes: 'approval',
    sm: {
      words: ['expired'],
      says: ({ payload: p }) => `: a question lapsed${quoted(p.reason)}`,
      metadata: ({ payload: p }) => ({ approval_id: p.approvalId }),
    },
    title: ({ payload: p }) => [p.subject, p.reason],
    search: ({ payload: p }) => [p.reason],
    payload: z.strictObject({ ...approval, reason: Body.optional() }),
  }),
  'effect.intended': event({
    about: 'Something outside is about to be done (paste, git, webhook).',
    reporter: 'daemon',
    opens: 'effect',
    title: ({ payload: p }) => [p.effect, p.target],
    payload: z.strictObject({
      effectId: Line,
      effect: Line,
      target: Line.optional(),
      detail: JsonObject.optional(),
    }),
  }),
  'effect.done': event({
    about: 'The outside effect has its receipt.',
    reporter: 'daemon',
    closes: 'effect',
    title: ({ payload: p }) => [p.effect],
    payload: z.strictObject({ effectId: Line, effect: Line, receipt: z.unknown().optional() }),
  }),
  'effect.unknown': event({
    about: 'An intent was left without a receipt by a crash; it is reported, never repeated.',
    reporter: 'daemon',
    closes: 'effect',
    sm: {
      words: ['unknown'],
      says: ({ payload: p }) => `: it is not known what became of its ${p.effect}${quoted(p.reason)}`,
    },
    title: ({ payload: p }) => [p.effect, p.reason],
    payload: z.strictObject({ effectId: Line, effect: Line, reason: Line.optional() }),
  }),
}
