import type { Client } from '../../client/client.ts'
import type { Frame } from '../../client/follow.ts'
import type { AppError } from '../../contract/errors.ts'

/** What can be heard of a session of built-in agents. */
export type Heard =
  | Of<'words', { runId: string; agent: string; text: string; isDone: boolean; isLossy: boolean }>
  | Of<'status', { runId: string; agent: string; status: string; detail: string; isTurn: boolean }>
  | ({ readonly kind: 'tool' } & ToolCall)
  | Of<'begun', { runId: string; agent: string; parent: string; task: string }>
  | Of<'said', { runId: string; from: string; to: string; text: string }>
  | Of<'ended', { runId: string; agent: string; outcome: Outcome }>
  | Of<'queue', { agent: string; items: readonly Waiting[] }>
  | Of<'taken', { runId: string; messageId: string }>
  | Of<'refused', { messageId: string }>
  | Of<'asked', { runId: string }>
  | Of<'closed', object>
  | Of<'changed', object>
  /** Something was missed. */
  | Of<'gap', object>

type Of<K extends string, T> = { readonly kind: K } & { readonly [N in keyof T]: T[N] }

/** A call of a tool: that it began, or how it ended. */
export type ToolCall = {
  readonly runId: string
  readonly agent: string
  readonly callId: string
  readonly tool: string
  readonly target?: string
  readonly result?: 'completed' | 'failed' | 'denied'
  readonly durationMs?: number
  readonly reason?: string
}

/** How a run ended, and what it produced and used. */
export type Outcome = {
  readonly status: string
  readonly detail?: string
  readonly output?: unknown
  readonly usage?: Readonly<Record<string, number>>
}

/** A message that its agent has not taken up yet. */
type Waiting = { readonly id: string; readonly preview: string }

type Data = Readonly<Record<string, unknown>>

/** Reads a frame of the runtime's stream; what says nothing to somebody who listens is nothing. */
export function heardIn({ event, data: raw }: Frame): Heard | undefined {
  if (event === 'resync') return { kind: 'gap' }
  const data = raw as Data
  const text = (name: string): string => {
    const value = data[name]
    return typeof value === 'string' ? value : ''
  }
  const runId = text('run_id')
  const agent = text('agent_id')
  switch (event) {
    case 'Token':
      if (data['thinking'] === true) return undefined
      return {
        kind: 'words',
        runId,
        agent,
        text: text('token'),
        isDone: data['done'] === true,
        isLossy: data['dropped'] !== undefined,
      }
    case 'AgentStatus':
      if (text('status_id') !== '' && text('tool') !== '')
        return { kind: 'tool', runId, agent, callId: text('status_id'), tool: text('tool'), ...how(data) }
      // An answer that has come says nothing of what its run does now.
      if (text('lifecycle') === 'done' && text('status') !== 'idle') return undefined
      return {
        kind: 'status',
        runId,
        agent,
        status: text('status'),
        detail: text('detail'),
        isTurn: text('status') === 'thinking' && !['', runId].includes(text('status_id')),
      }
    case 'SubagentSpawned':
      return {
        kind: 'begun',
        runId,
        agent: text('subagent_id'),
        parent: text('parent_id'),
        task: text('task'),
      }
    case 'Message':
      return { kind: 'said', runId, from: text('from'), to: text('to'), text: text('content') }
    case 'Outcome':
      return { kind: 'ended', runId, agent, outcome: (data['outcome'] ?? { status: 'failed' }) as Outcome }
    case 'QueueUpdated':
      return { kind: 'queue', agent, items: (data['items'] ?? []) as readonly Waiting[] }
    case 'StateUpdated':
      return happened(text('event'), { runId, agent, messageId: text('message_id') })
    default:
      return undefined
  }
}

function happened(
  event: string,
  { agent, ...about }: { readonly runId: string; readonly agent: string; readonly messageId: string },
): Heard | undefined {
  if (event.startsWith('approval.')) return { kind: 'asked', runId: about.runId }
  switch (event) {
    case 'agent.spawned':
      return { kind: 'begun', runId: about.runId, agent, parent: '', task: '' }
    case 'message.accepted':
      return { kind: 'taken', ...about }
    case 'message.failed':
      return { kind: 'refused', messageId: about.messageId }
    case 'session.completed':
    case 'session.failed':
      return { kind: 'closed' }
    case 'session.updated':
      return { kind: 'changed' }
    default:
      return undefined
  }
}

function how(data: Data): Partial<ToolCall> {
  const {
    target,
    result,
    duration_ms: durationMs,
    reason,
  } = data as {
    target?: string
    result?: 'completed' | 'failed' | 'denied'
    duration_ms?: number
    reason?: string
  }
  return {
    ...(target !== undefined && { target }),
    ...(result !== undefined && { result }),
    ...(durationMs !== undefined && { durationMs }),
    ...(reason !== undefined && { reason }),
  }
}

/** How a session is listened to. */
type Listening = {
  readonly sessionId: string
  readonly signal: AbortSignal
  readonly onRetry: (error: AppError, waitMs: number) => void
  /** Hears of each connection after a lost one. */
  readonly onReturn?: () => void
  /** Lost connections in a row after which it gives up. */
  readonly maxFailures?: number
}

// A daemon that is replaced or restarted comes back; who waits for an answer waits through that.
const usualFailures = 60
const maxBackoffMs = 2000

/** Begins to listen to a session; resolves when nothing that is said from now on can be missed. */
export async function openEar(client: Client, listening: Listening): Promise<AsyncGenerator<Heard>> {
  const { sessionId, signal, onRetry, onReturn, maxFailures = usualFailures } = listening
  const opened = Promise.withResolvers<void>()
  let isOpen = false
  const onOpen = () => {
    if (isOpen) onReturn?.()
    isOpen = true
    opened.resolve()
  }
  const frames = client.streamRuntime(
    { session_id: sessionId },
    { signal, onRetry, onOpen, maxFailures, maxBackoffMs },
  )
  const first = frames.next()
  await Promise.race([opened.promise, first])
  return heardFrames(frames, first)
}

async function* heardFrames(
  frames: ReturnType<Client['streamRuntime']>,
  first: ReturnType<ReturnType<Client['streamRuntime']>['next']>,
): AsyncGenerator<Heard> {
  try {
    for (let read = await first; !read.done; read = await frames.next()) {
      const heard = heardIn(read.value)
      if (heard) yield heard
    }
  } finally {
    await frames.return()
  }
}
