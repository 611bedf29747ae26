import type { AgentEvent, EventOf, EventType } from '../event.ts'
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


type Fields = Record<string, unknown>

function fields(type: SseType, event: AgentEvent, context: FrameContext): Fields {
  switch (type) {
    case 'Message':
      return message(event)
    case 'SubagentSpawned':
      return event.type === 'agent.spawned' ? spawned(event, context) : {}
    case 'SubagentResult':
      return isEnding(event)
        ? { parent_id: parentOf(event, context), subagent_id: event.payload.agentId, outcome: outcome(event) }
        : {}
    case 'Outcome':
      return isEnding(event) ? { agent_id: event.payload.agentId, outcome: outcome(event) } : {}
    case 'AgentStatus':
      return status(event)
    case 'SettingsUpdated':
      return event.type === 'settings.updated' && event.payload.mode ? { mode: event.payload.mode } : {}
    case 'QueueUpdated':
      return event.type === 'queue.updated' ? queue(event) : {}
    case 'StateUpdated':
    case 'Token':
      return {}
  }
}

/** Who a message is for when its event names nobody: the person watching. */
const anyone = 'user'

function message(event: AgentEvent): Fields {
  switch (event.type) {
    case 'agent.message.created': {
      const { from, to, text: body, payload } = event.payload
      return { from: from.agentId, to: to.agentId, content: body === undefined ? json(payload) : text(body) }
    }
    case 'agent.task.assigned': {
      const { assignedBy, agentId, description } = event.payload
      return { from: assignedBy ?? event.actor, to: agentId, content: text(description) }
    }
    case 'claim.verified': {
      const { verifierAgentId, sourceAgentId, findingId, verdict } = event.payload
      return { from: verifierAgentId, to: sourceAgentId ?? anyone, content: `${findingId}: ${verdict}` }
    }
    case 'verifier.issue.found': {
      const { severity, category, file, line, description } = event.payload
      const place = file === undefined ? '' : ` (${file}${line === undefined ? '' : `:${line}`})`
      return {
        from: event.actor,
        to: anyone,
        content: `${severity} ${category}: ${text(description)}${place}`,
      }
    }
    default:
      return { from: event.actor, to: anyone, content: '' }
  }
}

function spawned(event: EventOf<'agent.spawned'>, context: FrameContext): Fields {
  const { agentId, agentTask, task } = event.payload
  return {
    parent_id: parentOf(event, context),
    subagent_id: agentId,
    task: text(agentTask ?? task?.description ?? ''),
  }
}

const endings = {
  'agent.completed': 'completed',
  'agent.failed': 'failed',
  'agent.cancelled': 'cancelled',
  'agent.killed': 'killed',
  'agent.abandoned': 'abandoned',
} as const
type Ending = EventOf<keyof typeof endings>

const isEnding = (event: AgentEvent): event is Ending => event.type in endings

function outcome(event: Ending): Fields {
  const { output, detail, reason } = event.payload
  const error = event.type === 'agent.failed' ? event.payload.error : undefined
  const kind = typeof output === 'object' && output !== null && 'type' in output ? output.type : undefined
  const why = detail ?? error ?? reason
  return {
    type: kind === 'task' || kind === 'patch' ? kind : 'none',
    status: endings[event.type],
    ...(why !== undefined && { detail: text(why) }),
  }
}

// The actor of an ending may be the agent itself, which is nobody's parent.
function parentOf(event: Ending | EventOf<'agent.spawned'>, context: FrameContext): string {
  if (context.parentAgentId !== undefined) return context.parentAgentId
  return event.actor === event.payload.agentId ? (event.parentRunId ?? '') : event.actor
}

function status(event: AgentEvent): Fields {
  switch (event.type) {
    case 'agent.idle':
      return { agent_id: event.payload.agentId, status: 'idle', lifecycle: 'done' }
    case 'agent.waiting': {
      const { agentId, waitsFor } = event.payload
      return { agent_id: agentId, status: 'idle', detail: `Waiting for ${waitsFor}`, lifecycle: 'done' }
    }
    case 'agent.status.changed': {
      const { agentId, status: activity, detail } = event.payload
      return {
        agent_id: agentId,
        status: activity,
        ...(detail !== undefined && { detail }),
        lifecycle: activity === 'idle' ? 'done' : 'doing',
      }
    }
    case 'tool.call.started':
      return call(event, { detail: `Calling ${event.payload.tool}`, lifecycle: 'doing' })
    case 'tool.call.completed':
      return call(event, { detail: `Called ${event.payload.tool}`, lifecycle: 'done' })
    case 'tool.call.failed':
      return call(event, { detail: `${event.payload.tool} failed`, lifecycle: 'done' })
    case 'tool.call.denied':
      return call(event, {
        detail: `${event.payload.tool} denied: ${text(event.payload.reason)}`,
        lifecycle: 'done',
      })
    case 'llm.request.started':
      return {
        agent_id: event.actor,
        status: 'thinking',
        detail: `Thinking (${event.payload.model})`,
        status_id: event.spanId,
        lifecycle: 'doing',
      }
    case 'progress.checkpoint':
      return {
        agent_id: event.actor,
        status: 'working',
        detail: text(event.payload.message),
        lifecycle: 'doing',
      }
    default:
      return { agent_id: event.actor, status: 'working' }
  }
}

type Call = EventOf<`tool.call.${'started' | 'completed' | 'failed' | 'denied'}`>

const call = (event: Call, row: { detail: string; lifecycle: 'doing' | 'done' }): Fields => ({
  agent_id: event.actor,
  status: 'calling_tool',
  detail: row.detail,
  status_id: event.payload.callId,
  lifecycle: row.lifecycle,
})

const queuePreview = 100

const queue = (event: EventOf<'queue.updated'>): Fields => ({
  agent_id: event.payload.agentId,
  items: event.payload.items.map((item) => ({
    id: item.id,
    agent_id: item.agentId,
    session_id: event.sessionId,
    // By code points: a cut inside a surrogate pair would send half a character.
    preview: [...item.preview].slice(0, queuePreview).join(''),
    timestamp: item.timestamp,
  })),
})

const text = (body: string | BlobRef): string => (typeof body === 'string' ? body : body.preview)
const json = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value))
