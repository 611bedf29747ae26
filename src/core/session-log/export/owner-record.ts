import type { EventOf } from '../../../contract/event.ts'
import type { FileEffect } from '../changed-files.ts'
import type { EndEvent } from '../rebuild/ending.ts'
import type { CallEvents } from '../rebuild/tool-call.ts'

/** An event with its place in the stream: the order of events is theirs, never that of their clocks. */
export type Placed<E> = { readonly event: E; readonly position: number }

type CallRecord = { -readonly [K in keyof CallEvents]: CallEvents[K] }

/** What is known of one agent's work: the root session's, or that of an agent below it. */
export type OwnerRecord = {
  spawned?: Placed<EventOf<'agent.spawned'>>
  started?: Placed<EventOf<'session.started'>>
  ended?: Placed<EndEvent>
  assigned?: EventOf<'agent.task.assigned'>
  /** What it reported of its task: a task_completion or a review_result. */
  reported?: EventOf<'agent.message.created'>
  /** Its task failed, however it ended itself. */
  failed?: EventOf<'task.failed'>
  model?: string
  readonly parent?: OwnerRecord
  /** How many owners are above. */
  readonly depth: number
  /** When the agent first did something after it was started. */
  firstAct?: Placed<{ readonly timestamp: string }>
  readonly calls: CallRecord[]
  readonly checkpoints: Placed<EventOf<'progress.checkpoint'>>[]
  readonly effects: FileEffect[]
  /** Tokens by response id; the last figure for a response wins. */
  readonly tokens: Map<string, number>
  readonly findings: EventOf<'verifier.issue.found'>[]
  lastAt?: string
}

export const newOwner = (parent?: OwnerRecord): OwnerRecord => ({
  ...(parent ? { parent } : {}),
  depth: parent ? parent.depth + 1 : 0,
  calls: [],
  checkpoints: [],
  effects: [],
  tokens: new Map(),
  findings: [],
})
