import type { AgentEvent, EventOf } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import { type CallEvents } from './call-events.ts'
import type { FileEffect } from './changed-files.ts'
import { type EndEvent } from './record-events.ts'

/** Finds whose work an event belongs to, by its run, its session and the spans above it. */
export class Owners {
  readonly root: OwnerRecord = newOwner()
  /** Agents below the root, in the order in which they came. */
  readonly subs: OwnerRecord[] = []
  readonly #byRun = new Map<string, OwnerRecord>()
  readonly #bySession = new Map<string, OwnerRecord>()
  readonly #bySpan = new Map<string, OwnerRecord>()
  /** The runs that sessions work for. */
  readonly #parentRuns = new Map<string, string>()
  readonly #parentSpan = new Map<string, string>()
  /** Agents by session and name: several main agents may take turns in one session. */
  readonly #sharing = new Map<string, OwnerRecord>()
  /** Tasks that have a span of their own, and who does them: by that span, and by agent and task. */
  readonly #tasks = new Map<string, EventOf<'agent.task.assigned'>>()
  readonly #doers = new Map<string, OwnerRecord>()
  readonly #doersByName = new Map<string, OwnerRecord>()

  constructor(rootSession: SessionId) {
    this.#bySession.set(rootSession, this.root)
  }

  /** Whether an event belongs to the tree at all. */
  holds(event: AgentEvent): boolean {
    if (this.#bySession.has(event.sessionId) || this.#byRun.has(event.runId)) return true
    if (event.type === 'session.started' && event.payload.parentSessionId !== undefined)
      return this.#bySession.has(event.payload.parentSessionId)
    return event.type === 'agent.spawned' && this.#byRun.has(event.parentRunId ?? '')
  }

  note({ spanId, parentSpanId }: AgentEvent): void {
    if (parentSpanId !== undefined && !this.#parentSpan.has(spanId))
      this.#parentSpan.set(spanId, parentSpanId)
  }

  of(event: AgentEvent): OwnerRecord {
    const doer = this.#doers.get(event.spanId)
    if (doer) return doer
    const run = this.#byRun.get(event.runId) ?? this.#bySession.get(event.sessionId) ?? this.root
    const above = this.#above(event.spanId)
    // Spans reach across runs up to the root, and a run may hold agents of its own: the deeper one is nearer.
    return above && above.depth >= run.depth ? above : run
  }

  /** The owner an end event closes: its span was opened by it. A run in a workflow does not end the workflow. */
  closedBy(event: AgentEvent): OwnerRecord | undefined {
    const owner = this.#bySpan.get(event.spanId) ?? this.of(event)
    if (!isWorkflow(owner)) return owner
    const isItsOwn = event.type.startsWith('session.') && owner.started?.event.sessionId === event.sessionId
    return isItsOwn ? owner : undefined
  }

  /** Takes note of a task; an agent that is started under its span is the one who does it. */
  assign(event: EventOf<'agent.task.assigned'>): void {
    if (this.#bySpan.has(event.spanId)) this.of(event).assigned ??= event
    else this.#tasks.set(event.spanId, event)
  }

  /** Who did a task last. */
  doer(agentId: string, taskId: string): OwnerRecord | undefined {
    return this.#doersByName.get(`${agentId} ${taskId}`)
  }

  session(event: EventOf<'session.started'>): OwnerRecord {
    const above = this.#bySession.get(event.payload.parentSessionId ?? '')
    const known = this.#bySession.get(event.sessionId) ?? this.#byRun.get(event.runId)
    const isAbove = above && orchestrates(above, event.payload.agent?.agentId)
    const owner = known ?? (isAbove ? above : this.#add(above))
    this.#does(owner, event.parentSpanId)
    this.#bySession.set(event.sessionId, owner)
    if (event.parentRunId !== undefined) this.#parentRuns.set(event.sessionId, event.parentRunId)
    this.#byRun.set(event.runId, owner)
    if (!this.#bySpan.has(event.spanId)) this.#bySpan.set(event.spanId, owner)
    return owner
  }

  agent(event: EventOf<'agent.spawned'>): OwnerRecord {
    const owner =
      this.#orchestrator(event) ?? this.#turn(event) ?? this.#unspawned(event) ?? this.#child(event)
    this.#does(owner, event.parentSpanId)
    this.#bySpan.set(event.spanId, owner)
    if (!this.#byRun.has(event.runId)) this.#byRun.set(event.runId, owner)
    if (!this.#bySession.has(event.sessionId)) this.#bySession.set(event.sessionId, owner)
    if (!this.#isDelegated(event)) this.#sharing.set(`${event.sessionId} ${event.payload.agentId}`, owner)
    return owner
  }

  /** A workflow's orchestrator is whoever the workflow itself is shown as: its runs are the workflow's own. */
  #orchestrator({
    runId,
    parentRunId,
    sessionId,
    payload,
  }: EventOf<'agent.spawned'>): OwnerRecord | undefined {
    const own = this.#byRun.get(runId)
    if (own && isWorkflow(own)) return own
    const above = this.#byRun.get(parentRunId ?? '') ?? this.#bySession.get(sessionId)
    return above && orchestrates(above, payload.agentId) ? above : undefined
  }

  /** A further turn of an agent that has its own session, or shares one: nobody delegated it. */
  #turn(event: EventOf<'agent.spawned'>): OwnerRecord | undefined {
    const { sessionId, payload } = event
    if (this.#isDelegated(event)) return undefined
    const known = this.#bySession.get(sessionId)
    // A workflow calls the program that works for it by another name than the program itself.
    const isMember = known?.parent && isWorkflow(known.parent) && known.started?.event.sessionId === sessionId
    const isIts = isMember || known?.spawned?.event.payload.agentId === payload.agentId
    const turning = known?.spawned && isIts ? known : this.#sharing.get(`${sessionId} ${payload.agentId}`)
    if (!turning || isWorkflow(turning)) return undefined
    delete turning.ended
    return turning
  }

  #does(owner: OwnerRecord, span: string | undefined): void {
    const task = span === undefined ? undefined : this.#tasks.get(span)
    if (!task || span === undefined || isWorkflow(owner)) return
    owner.assigned = task
    this.#doers.set(span, owner)
    this.#doersByName.set(`${task.payload.agentId} ${task.payload.taskId}`, owner)
  }

  /** An owner that is known by its session or run, and that this event tells of for the first time. */
  #unspawned(event: EventOf<'agent.spawned'>): OwnerRecord | undefined {
    const { payload, sessionId, runId } = event
    const known = this.#byRun.get(runId) ?? this.#bySession.get(sessionId)
    if (!known || known.spawned !== undefined) return undefined
    if (known !== this.root) return known.started?.event.sessionId === sessionId ? known : undefined
    if (this.#isDelegated(event)) return undefined
    // A session that a workflow began is itself the agent, whatever the workflow calls it.
    if (known.started?.event.workflowId !== undefined) return known
    const declared = known.started?.event.payload.agent?.agentId
    const isOther = declared !== undefined && declared !== payload.agentId
    return isOther || event.workflowId !== undefined ? undefined : known
  }

  #child(event: EventOf<'agent.spawned'>): OwnerRecord {
    const above = event.parentSpanId ?? event.payload.parentSpanId
    const parent =
      this.#byRun.get(event.parentRunId ?? '') ??
      (above === undefined ? undefined : this.#above(above)) ??
      this.#bySession.get(event.sessionId)
    return this.#add(parent)
  }

  /** Whether an agent was started by another one; else it is a turn in a session, which may work for a run itself. */
  #isDelegated({ sessionId, parentRunId, payload }: EventOf<'agent.spawned'>): boolean {
    const isOfAnother = parentRunId !== undefined && parentRunId !== this.#parentRuns.get(sessionId)
    return isOfAnother || payload.triggeredByCallId !== undefined || payload.kind === 'subagent'
  }

  #add(parent: OwnerRecord | undefined): OwnerRecord {
    const owner = newOwner(parent ?? this.root)
    this.subs.push(owner)
    return owner
  }

  /** The owner of the nearest span above that an owner opened. A damaged journal may have spans in a ring. */
  #above(spanId: string): OwnerRecord | undefined {
    const walked = new Set<string>()
    for (let span: string | undefined = spanId; span !== undefined && !walked.has(span); ) {
      const owner = this.#bySpan.get(span)
      if (owner) return owner
      walked.add(span)
      span = this.#parentSpan.get(span)
    }
    return undefined
  }
}

/** Whether an owner is a session in which a workflow runs. */
export const isWorkflow = ({ started }: OwnerRecord): boolean => started?.event.payload.origin === 'workflow'

const orchestrates = (owner: OwnerRecord, agentId: string | undefined): boolean =>
  isWorkflow(owner) && owner.started?.event.payload.collaboration?.orchestrator.agentId === agentId

/** An event with its place in the stream: the order of events is theirs, never that of their clocks. */
export type Placed<E> = { readonly event: E; readonly position: number }

/** A check that Muster ran. */
export type CheckFact = EventOf<'test.passed' | 'test.failed'>

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
  /** What Muster ran on its work. */
  readonly checks: CheckFact[]
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
  checks: [],
})
