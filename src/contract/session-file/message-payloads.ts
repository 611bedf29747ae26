import * as z from 'zod'
import type { MessageType } from '../events/message.ts'
import { Count, Priority, Verdict } from '../values.ts'
import { AgentSession, FileId, IsoTime } from './agent-session.ts'
import { MultiAgentSession, SingleAsMultiAgent, std008Version } from './multi-agent-session.ts'
import { DeveloperInput, DeveloperOutput, ReviewerInput, ReviewerOutput } from './outputs.ts'

/** How many review rounds an assignment allows when it does not say. */
export const defaultMaxIterations = 3

const TaskAssignmentPayload = z.strictObject({
  task: DeveloperInput,
  priority: Priority.optional(),
  deadline: IsoTime.optional(),
  max_iterations: Count.optional(),
})

const TaskProgressPayload = z.strictObject({
  task_id: FileId,
  progress_percent: z.number().min(0).max(100).optional(),
  current_step: z.string().optional(),
  files_modified_so_far: z.array(z.string()).optional(),
  estimated_remaining: z.union([z.string(), z.number()]).optional(),
  blockers: z.array(z.string()).optional(),
})

/** A developer's whole output, or at least which task ended how. */
const TaskCompletionPayload = z.strictObject({
  ...DeveloperOutput.partial().shape,
  task_id: DeveloperOutput.shape.task_id,
  status: DeveloperOutput.shape.status,
})

/** A reviewer's whole output, or at least the verdict and what it is about. */
const ReviewResultPayload = z
  .strictObject({ ...ReviewerOutput.partial().shape, verdict: Verdict })
  .refine((payload) => payload.task_id !== undefined || payload.review_id !== undefined, {
    message: 'a review_result names its task_id or its review_id',
  })

const FeedbackPayload = z.strictObject({
  feedback_type: z.enum(['clarification', 'correction', 'guidance', 'question']),
  subject: z.string(),
  content: z.string(),
  action_required: z.boolean(),
  related_task_id: z.string().optional(),
})

const AbortPayload = z.strictObject({
  scope: z.enum(['task', 'session']),
  target_id: FileId,
  reason: z.string(),
  cleanup_required: z.boolean(),
})

const AcknowledgmentPayload = z.strictObject({
  acknowledged_message_id: FileId,
  accepted: z.boolean(),
  reason: z.string().optional(),
})

const StatusQueryPayload = z.strictObject({ subject_id: FileId })
const StatusResponsePayload = z.strictObject({ state: z.string(), detail: z.string().optional() })

/** The payload each message type carries. */
export const messagePayloads = {
  task_assignment: TaskAssignmentPayload,
  task_progress: TaskProgressPayload,
  task_completion: TaskCompletionPayload,
  review_request: ReviewerInput,
  review_result: ReviewResultPayload,
  feedback: FeedbackPayload,
  status_query: StatusQueryPayload,
  status_response: StatusResponsePayload,
  abort: AbortPayload,
  acknowledgment: AcknowledgmentPayload,
} satisfies Record<MessageType, z.ZodType>

/** A value that does not fit its schema, and where. */
export type ShapeFault = { readonly path: readonly PropertyKey[]; readonly message: string }

/** The faults of a value against a schema, each at its own path. */
export function shapeFaults(value: unknown, schema: z.ZodType): ShapeFault[] {
  const parsed = schema.safeParse(value)
  return (parsed.error?.issues ?? []).flatMap((issue) => faultsOf(issue, []))
}

function faultsOf(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): ShapeFault[] {
  const path = [...above, ...issue.path]
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [{ path, message: issue.message }]
  // The option that fits best says most: a wrong verdict is not "neither a developer's nor a reviewer's output".
  const nearest = issue.errors.reduce((best, option) => (option.length < best.length ? option : best))
  return nearest.flatMap((inner) => faultsOf(inner, path))
}

/** The JSON Schema of a session file: a multi-agent or a single-agent session, or one seen as the other, and the message payloads by type. */
export function toJsonSchema(): Record<string, unknown> {
  const session = z.toJSONSchema(z.union([MultiAgentSession, SingleAsMultiAgent, AgentSession]))
  const payloads = z.toJSONSchema(z.strictObject(messagePayloads))
  const { $defs: sessionDefs, $schema, ...body } = session
  return {
    $schema,
    $id: `urn:muster:std-008:${std008Version}`,
    title: `STD-008 session file, version ${std008Version}`,
    version: std008Version,
    ...body,
    $defs: { ...payloads.$defs, ...sessionDefs, MessagePayloads: withoutDefs(payloads) },
  }
}

function withoutDefs(schema: Record<string, unknown>): Record<string, unknown> {
  const { $defs: _defs, $schema: _dialect, ...rest } = schema
  return rest
}
