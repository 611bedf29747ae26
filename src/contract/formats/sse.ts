import { bodyText } from '../body-text.ts'
import type { AgentEvent, EventOf, EventType } from '../event.ts'
import { subjectOf } from '../tool-subject.ts'
import type { BlobRef } from '../values.ts'
import { type SseType, views } from '../views.ts'

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

/** The most frames one event makes; a cursor with a higher part is past the whole event. */
export const maxParts = Math.max(...Object.values(views).map((view) => view.sse.length))

/** How many frames an event type makes; a type of a newer writer makes one. */
export const partsOf = (type: string): number => (views[type as EventType] ?? unknownView).sse.length

/** The frames of one event, in part order; every event makes at least one. */
export function runtimeFrames(event: AgentEvent, context: FrameContext = {}): readonly RuntimeFrame[] {
  const root = projectRootOf(event, context)
  return (views[event.type] ?? unknownView).sse.map((type) => ({
    type,
    data: {
      seq: event.seq,
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

/** The project an event belongs to: what it says itself, else what is known of its session. */
export function projectRootOf(event: AgentEvent, context: FrameContext): string | undefined {
  if (event.type === 'session.started') return event.payload.workingDir ?? context.projectRoot
  if (event.type === 'settings.updated' || event.type === 'queue.updated')
    return event.payload.projectRoot ?? context.projectRoot
  return context.projectRoot
}

const unknownView = { sse: ['StateUpdated'] } as const

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

const statuses: Fills = {
  'agent.idle': ({ payload }) => ({ agent_id: payload.agentId, status: 'idle', lifecycle: 'done' }),
  'agent.waiting': ({ payload }) => ({
    agent_id: payload.agentId,
    status: 'idle',
    detail: `Waiting for ${payload.waitsFor}`,
    lifecycle: 'done',
  }),
  'agent.status.changed': ({ payload: { agentId, status, detail } }) => ({
    agent_id: agentId,
    status,
    ...(detail !== undefined && { detail }),
    lifecycle: status === 'idle' ? 'done' : 'doing',
  }),
  'tool.call.started': (event) => {
    const { tool, params, rawCommand } = event.payload
    const target = rawCommand === undefined ? subjectOf(params) : text(rawCommand)
    return {
      ...call(event, { detail: `Calling ${tool}`, lifecycle: 'doing' }),
      ...(target !== undefined && { target: beginning(target, targetChars) }),
    }
  },
  'tool.call.completed': (event) => ({
    ...call(event, { detail: `Called ${event.payload.tool}`, lifecycle: 'done' }),
    result: 'completed',
    ...took(event.payload),
  }),
  'tool.call.failed': (event) => {
    const { tool, error, reason } = event.payload
    const why = reason ?? bodyText(error)
    return {
      ...call(event, { detail: `${tool} failed`, lifecycle: 'done' }),
      result: 'failed',
      ...took(event.payload),
      ...(why !== undefined && { reason: beginning(why, targetChars) }),
    }
  },
  'tool.call.denied': (event) => {
    const reason = text(event.payload.reason)
    return {
      ...call(event, { detail: `${event.payload.tool} denied: ${reason}`, lifecycle: 'done' }),
      result: 'denied',
      reason: beginning(reason, targetChars),
    }
  },
  'llm.request.started': ({ actor, spanId, payload }) => ({
    agent_id: actor,
    status: 'thinking',
    detail: `Thinking (${payload.model})`,
    status_id: spanId,
    lifecycle: 'doing',
  }),
  'progress.checkpoint': ({ actor, payload }) => ({
    agent_id: actor,
    status: 'working',
    detail: text(payload.message),
    lifecycle: 'doing',
  }),
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
  if (!(event.type in views)) return {}
  const { payload } = event
  const message = 'messageId' in payload ? payload.messageId : undefined
  return { event: event.type, ...(message !== undefined && { message_id: message }) }
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

const call = (event: Call, row: { detail: string; lifecycle: 'doing' | 'done' }): Fields => ({
  agent_id: event.actor,
  status: 'calling_tool',
  detail: row.detail,
  status_id: event.payload.callId,
  tool: event.payload.tool,
  lifecycle: row.lifecycle,
})

const text = (body: string | BlobRef): string => (typeof body === 'string' ? body : body.preview)
const json = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value))
// Half of a surrogate pair at the cut would be sent as a broken character.
const beginning = (whole: string, most: number): string =>
  whole.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')
