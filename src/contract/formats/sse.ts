import { bodyText } from '../body-text.ts'
import { type AgentEvent, catalogue, type EventOf, type EventType } from '../event.ts'
import type { SseType } from '../event-definition.ts'
import { type LiveStatus, statusOf } from '../status-phrases.ts'
import { subjectOf } from '../tool-subject.ts'
import type { BlobRef } from '../values.ts'

/** One frame of `GET /api/events`: its SSE name and the JSON object of its data line. */
export type RuntimeFrame = { readonly type: SseType; readonly data: Readonly<Record<string, unknown>> }

/** What a frame says beyond its event: the event alone does not know its project or its parent's name. */
export type FrameContext = { readonly projectRoot?: string; readonly parentAgentId?: string }

/** Text streamed by a model, before any event has it. */
export type TokenDelta = {
  readonly sessionId: string
  readonly runId: string
  readonly agentId: string
  readonly token: string
  readonly done?: boolean
  readonly thinking?: boolean
  readonly projectRoot?: string
}

/** The last line that a call has printed, while it runs. */
export type OutputLine = Pick<TokenDelta, 'sessionId' | 'runId' | 'agentId' | 'projectRoot'> & {
  readonly tool: string
  readonly line: string
}

/** The most frames one event makes; a cursor with a higher part is past the whole event. */
export const maxParts = Math.max(...Object.values(catalogue).map(({ sse }) => sse.length))

/** Room between the numbers of two events. It can never change: a client counts on the numbers that it has. */
export const framesPerEvent = 8

/** The highest number that a frame of an event, or of one before it, can have. */
export const lastFrameOf = (seq: number): number => seq * framesPerEvent + framesPerEvent - 1

/** How many frames an event makes; a type of a newer writer makes one. */
export const partsOf = (event: Framed): number => framesOf(event).length

/** The frames of one event, in part order; every event makes at least one. */
export function runtimeFrames(event: AgentEvent, context: FrameContext = {}): readonly RuntimeFrame[] {
  const root = projectRootOf(event, context)
  return framesOf(event).map((type, part) => ({
    type,
    data: {
      // Of its own, and the same whenever it is asked for: it rises from frame to frame.
      seq: event.seq * framesPerEvent + part,
      ...(root !== undefined && { project_root: root }),
      session_id: event.sessionId,
      run_id: event.runId,
      type,
      ...fields(type, event, context),
    },
  }))
}

/** The frame of a streamed token; it has no seq, because no event stands behind it. */
export function tokenFrame(delta: TokenDelta): RuntimeFrame {
  return {
    type: 'Token',
    data: {
      ...(delta.projectRoot !== undefined && { project_root: delta.projectRoot }),
      session_id: delta.sessionId,
      run_id: delta.runId,
      type: 'Token',
      agent_id: delta.agentId,
      token: delta.token,
      ...(delta.done !== undefined && { done: delta.done }),
      ...(delta.thinking !== undefined && { thinking: delta.thinking }),
    },
  }
}

/** The frame of a line that a call has printed: the status row of its run says it, until the next status. */
export function outputFrame({
  projectRoot,
  sessionId,
  runId,
  agentId,
  tool,
  line,
}: OutputLine): RuntimeFrame {
  return {
    type: 'AgentStatus',
    data: {
      ...(projectRoot !== undefined && { project_root: projectRoot }),
      session_id: sessionId,
      run_id: runId,
      type: 'AgentStatus',
      agent_id: agentId,
      ...statusOf.printing(tool, line),
      status_id: runId,
      lifecycle: 'doing',
    },
  }
}

/** The project an event belongs to: what it says itself, else what is known of its session. */
export function projectRootOf(event: AgentEvent, context: FrameContext): string | undefined {
  if (event.type === 'session.started') return event.payload.workingDir ?? context.projectRoot
  if (event.type === 'settings.updated' || event.type === 'queue.updated')
    return event.payload.projectRoot ?? context.projectRoot
  return context.projectRoot
}

type Framed = { readonly type: string; readonly parentRunId?: string | undefined }

const plain: readonly SseType[] = ['StateUpdated']
const ofSubagents: readonly SseType[] = ['SubagentSpawned', 'SubagentResult']

/** A run that works for nobody is no subagent. */
function framesOf({ type, parentRunId }: Framed): readonly SseType[] {
  const frames = catalogue[type as EventType]?.sse ?? plain
  if (parentRunId !== undefined || !frames.some((frame) => ofSubagents.includes(frame))) return frames
  const own = frames.filter((frame) => !ofSubagents.includes(frame))
  return own.length === 0 ? plain : own
}

type Fields = Readonly<Record<string, unknown>>
/** What a frame says of each event type that has it. A type whose view names the frame must be here. */
type Fills = {
  readonly [T in EventType]?: (event: EventOf<T>, context: FrameContext) => Fields
}

/** Who a message is for when its event names nobody: the person watching. */
const anyone = 'user'

const messages: Fills = {
  'agent.message.created': ({ payload: { from, to, text: body, payload } }) => ({
    from: from.agentId,
    to: to.agentId,
    content: body === undefined ? json(payload) : text(body),
  }),
  'agent.task.assigned': ({ actor, payload: { assignedBy, agentId, description } }) => ({
    from: assignedBy ?? actor,
    to: agentId,
    content: text(description),
  }),
  'claim.verified': ({ payload: { verifierAgentId, sourceAgentId, findingId, verdict } }) => ({
    from: verifierAgentId,
    to: sourceAgentId ?? anyone,
    content: `${findingId}: ${verdict}`,
  }),
  'verifier.issue.found': ({ actor, payload: { severity, category, file, line, description } }) => {
    const place = file === undefined ? '' : ` (${file}${line === undefined ? '' : `:${line}`})`
    return { from: actor, to: anyone, content: `${severity} ${category}: ${text(description)}${place}` }
  },
}

const spawns: Fills = {
  'agent.spawned': (event, context) => ({
    parent_id: parentOf(event, context),
    subagent_id: event.payload.agentId,
    task: text(event.payload.agentTask ?? event.payload.task?.description ?? ''),
  }),
}

type Ending = EventOf<`agent.${'completed' | 'failed' | 'cancelled' | 'killed' | 'abandoned'}`>

const everyEnding = (fill: (event: Ending, context: FrameContext) => Fields): Fills => ({
  'agent.completed': fill,
  'agent.failed': fill,
  'agent.cancelled': fill,
  'agent.killed': fill,
  'agent.abandoned': fill,
})

const results = everyEnding((event, context) => ({
  parent_id: parentOf(event, context),
  subagent_id: event.payload.agentId,
  outcome: outcome(event),
}))

const outcomes = everyEnding((event) => ({ agent_id: event.payload.agentId, outcome: outcome(event) }))

const targetChars = 400

const took = ({ durationMs }: { readonly durationMs?: number | undefined }): Fields =>
  durationMs === undefined ? {} : { duration_ms: durationMs }

type Lifecycle = 'doing' | 'done'

/** The one status row of a run: each status of it stands in the place of the one before, which is closed with that. */
const row = (
  { runId }: AgentEvent,
  agentId: string,
  { status, detail }: Pick<LiveStatus, 'status'> & { readonly detail?: string | undefined },
): Fields => ({
  agent_id: agentId,
  status,
  ...(detail !== undefined && { detail }),
  status_id: runId,
  lifecycle: status === 'idle' ? 'done' : 'doing',
})

type Request = EventOf<`llm.request.${'started' | 'completed' | 'failed'}`>

const request = (event: Request, status: LiveStatus, lifecycle: Lifecycle): Fields => ({
  agent_id: event.actor,
  ...status,
  status_id: event.spanId,
  lifecycle,
})

const statuses: Fills = {
  'agent.idle': (event) => row(event, event.payload.agentId, statusOf.idle()),
  'agent.waiting': (event) => row(event, event.payload.agentId, statusOf.waiting(event.payload.waitsFor)),
  'agent.status.changed': (event) => row(event, event.payload.agentId, event.payload),
  'progress.checkpoint': (event) =>
    row(event, event.actor, { status: 'working', detail: text(event.payload.message) }),
  'tool.call.started': (event) => {
    const { tool, params, rawCommand } = event.payload
    const target = rawCommand === undefined ? subjectOf(params) : text(rawCommand)
    return {
      ...call(event, statusOf.calling(tool), 'doing'),
      ...(target !== undefined && { target: beginning(target, targetChars) }),
    }
  },
  'tool.call.completed': (event) => ({
    ...call(event, statusOf.called(event.payload.tool), 'done'),
    result: 'completed',
    ...took(event.payload),
  }),
  'tool.call.failed': (event) => {
    const { tool, error, reason } = event.payload
    const why = reason ?? bodyText(error)
    return {
      ...call(event, statusOf.failed(tool), 'done'),
      result: 'failed',
      ...took(event.payload),
      ...(why !== undefined && { reason: beginning(why, targetChars) }),
    }
  },
  'tool.call.denied': (event) => {
    const reason = text(event.payload.reason)
    return {
      ...call(event, statusOf.denied(event.payload.tool, reason), 'done'),
      result: 'denied',
      reason: beginning(reason, targetChars),
    }
  },
  'llm.request.started': (event) => ({
    ...request(event, statusOf.thinking(), 'doing'),
    model: event.payload.model,
  }),
  'llm.request.completed': (event) => request(event, statusOf.thought(), 'done'),
  'llm.request.failed': (event) => request(event, statusOf.unanswered(), 'done'),
}

const settings: Fills = {
  'settings.updated': ({ payload: { mode } }) => (mode === undefined ? {} : { mode }),
}

const queuePreview = 100

const queues: Fills = {
  'queue.updated': ({ sessionId, payload }) => ({
    agent_id: payload.agentId,
    items: payload.items.map(({ id, agentId, preview, timestamp }) => ({
      id,
      agent_id: agentId,
      session_id: sessionId,
      preview: beginning(preview, queuePreview),
      timestamp,
    })),
  }),
}

/** What to look at again: the event behind it, and the message that it is about. */
function behind(event: AgentEvent): Fields {
  if (!(event.type in catalogue)) return {}
  const { payload } = event
  const message = 'messageId' in payload ? payload.messageId : undefined
  return {
    event: event.type,
    ...(message !== undefined && { message_id: message }),
    // A run that works for nobody begins here: it is no subagent, and its tokens are about to come.
    ...(event.type === 'agent.spawned' && { agent_id: event.payload.agentId }),
  }
}

const fills: Record<SseType, Fills> = {
  StateUpdated: {},
  Message: messages,
  SubagentSpawned: spawns,
  SubagentResult: results,
  AgentStatus: statuses,
  SettingsUpdated: settings,
  QueueUpdated: queues,
  Token: {},
  Outcome: outcomes,
}

function fields(type: SseType, event: AgentEvent, context: FrameContext): Fields {
  if (type === 'StateUpdated') return behind(event)
  const fill = fills[type][event.type] as ((event: AgentEvent, context: FrameContext) => Fields) | undefined
  return fill?.(event, context) ?? {}
}

function outcome(event: Ending): Fields {
  const { output, detail, reason, usage } = event.payload
  const error = event.type === 'agent.failed' ? event.payload.error : undefined
  const made = typeof output === 'object' && output !== null ? (output as Fields) : {}
  const { type: kind, packet } = made
  const why = detail ?? error ?? reason
  return {
    type: kind === 'task' || kind === 'patch' ? kind : 'none',
    status: event.type.replace('agent.', ''),
    ...(why !== undefined && { detail: text(why) }),
    ...(packet !== undefined && { output: packet }),
    ...(usage && { usage }),
  }
}

// The actor of an ending may be the agent itself, which is nobody's parent.
function parentOf(event: Ending | EventOf<'agent.spawned'>, context: FrameContext): string {
  if (context.parentAgentId !== undefined) return context.parentAgentId
  return event.actor === event.payload.agentId ? (event.parentRunId ?? '') : event.actor
}

type Call = EventOf<`tool.call.${'started' | 'completed' | 'failed' | 'denied'}`>

const call = (event: Call, status: LiveStatus, lifecycle: Lifecycle): Fields => ({
  agent_id: event.actor,
  ...status,
  status_id: event.payload.callId,
  tool: event.payload.tool,
  lifecycle,
})

const text = (body: string | BlobRef): string => (typeof body === 'string' ? body : body.preview)
const json = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value))
// Half of a surrogate pair at the cut would be sent as a broken character.
const beginning = (whole: string, most: number): string =>
  whole.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')
