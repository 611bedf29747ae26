import * as z from 'zod'

/** A short text: names, reasons, labels. What may be longer is a Body. */
export const Line = z.string().max(4096)
/** A preview of a longer text that lives elsewhere. */
export const Preview = z.string().max(2048)
/** When something happened: ISO-8601 UTC with milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 })
/** A whole count that cannot be negative. */
export const Count = z.int().nonnegative()
/** A duration in milliseconds. */
export const Millis = z.number().nonnegative()

/** A text over the inline limit, moved to a blob pack before its event was written. */
export const BlobRef = z.strictObject({
  $blob: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  bytes: Count,
  pack: Count,
  offset: Count,
  preview: Preview,
})
export type BlobRef = z.infer<typeof BlobRef>

/** A text of any length: inline when small, a blob reference when large. */
export const Body = z.union([z.string(), BlobRef])
/** A JSON object whose fields are not ours to know. */
export const JsonObject = z.record(z.string(), z.unknown())

/** Fields of a foreign file that our words have no name for; kept so that nothing is lost. */
export const Raw = JsonObject

/** Who an agent is, in events (STD-008 calls it AgentIdentifier). */
export const Agent = z.strictObject({
  agentId: Line,
  agentType: Line,
  instanceId: Line.optional(),
  raw: Raw.optional(),
})
export type Agent = z.infer<typeof Agent>

/** How an agent may come to be in the tree: depth-1 delegation of a run, or a spawned session. */
export const AgentKind = z.enum(['main', 'subagent'])

/** Token counts of one model call, or a sum of them. */
export const Tokens = z.strictObject({
  input: Count.optional(),
  output: Count.optional(),
  cacheRead: Count.optional(),
  cacheWrite: Count.optional(),
  reasoning: Count.optional(),
  total: Count.optional(),
})

/** Who pays for a model call: a key by the token, or a plan with an allowance. */
export const Billing = z.enum(['api', 'plan'])
export type Billing = z.infer<typeof Billing>

export const Priority = z.enum(['high', 'medium', 'low'])
/** How an agent works: one tool at a time for a person, or on its own to the end. */
export const LoopMode = z.enum(['chat', 'auto'])
export type LoopMode = z.infer<typeof LoopMode>
/** What a review can say. */
export const Verdict = z.enum(['approved', 'changes_requested', 'rejected'])
/** What a verifier can say of one claim. */
export const ClaimVerdict = z.enum(['supported', 'refuted', 'inconclusive'])
/** What a tool call is for, as in STD-001. */
export const ToolCategory = z.enum(['perception', 'action', 'interaction', 'planning', 'task_management'])
export type ToolCategory = z.infer<typeof ToolCategory>

/** How much an agent may do without asking. */
export const PermissionMode = z.enum(['manual', 'acceptEdits', 'plan', 'bypass'])
export type PermissionMode = z.infer<typeof PermissionMode>
/** What a subtree of sessions may use up. */
export const Budget = z.strictObject({
  tokens: z.int().positive().optional(),
  usd: z.number().positive().optional(),
})
export type Budget = z.infer<typeof Budget>

/**
 * Lifecycle of a session: one of the three status axes. `failed` is a live session whose last turn broke, `error` one
 * whose program is dead.
 */
export const Lifecycle = z.enum([
  'spawned',
  'starting',
  'running',
  'waiting_input',
  'idle',
  'failed',
  'completed',
  'error',
  'abandoned',
  'killed',
  'cancelled',
])
export type Lifecycle = z.infer<typeof Lifecycle>
/** How a workflow fell short. `rejected`: a reviewer or a person did not accept its work, its plan or its script. */
export const WorkflowFailure = z.enum(['failed', 'rejected'])
export type WorkflowFailure = z.infer<typeof WorkflowFailure>
/** How a workflow ended. */
export const WorkflowOutcome = z.enum(['completed', ...WorkflowFailure.options, 'cancelled'])
export type WorkflowOutcome = z.infer<typeof WorkflowOutcome>
/** What a live agent is doing: the second axis. */
export const Activity = z.enum(['model_loading', 'thinking', 'calling_tool', 'working', 'idle'])
/** How a model call failed, in one vocabulary for every provider; only some are worth another try. */
export const ModelFailureKind = z.enum([
  'rate_limited',
  'overloaded',
  'server',
  'timeout',
  'network',
  'cut',
  'context_length',
  'login',
  'refused',
])
export type ModelFailureKind = z.infer<typeof ModelFailureKind>
/** What an approval is about. */
export const ApprovalSubject = z.enum([
  'tool',
  'plan',
  'workflow',
  'termination',
  'budget',
  'land',
  'question',
])

/** What stands between the program of a session and the rest of the machine. */
export const Isolation = z.enum(['none', 'bwrap'])
export type Isolation = z.infer<typeof Isolation>

/** What a person allowed for more than once: this text, or all that begins with it, of one tool in one folder. */
export const Permit = z.strictObject({
  cli: Line,
  folder: Line,
  tool: Line,
  text: Line,
  isPrefix: z.literal(true).optional(),
})
export type Permit = z.infer<typeof Permit>

/** How a span stands. */
export const SpanStatus = z.enum([
  'open',
  'ok',
  'error',
  'cancelled',
  'killed',
  'abandoned',
  'denied',
  'rejected',
  'expired',
  'skipped',
  'unknown',
])
export type SpanStatus = z.infer<typeof SpanStatus>
