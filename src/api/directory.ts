import { AppError } from '../contract/errors.ts'
import type { AgentEvent, EventOf } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import type { MessageRow, RunRow, SessionRow, UsageRow } from '../contract/index-rows.ts'
import type { Principal } from '../contract/principal.ts'
import type {
  CheckpointView,
  MessageView,
  ProgressView,
  SessionDetail,
  SessionView,
} from '../contract/session-views.ts'
import { notCounted, untoldSigns } from '../core/ledger/not-counted.ts'
import { isUntoldCall } from '../core/ledger/untold-calls.ts'
import { progressView, typicalUsage } from '../core/session/progress-view.ts'
import { sessionView } from '../core/session/session-view.ts'
import type { Engine } from '../engine/engine.ts'
import type { Observer } from '../engine/observer.ts'
import type { Sessions } from '../engine/sessions/sessions.ts'
import type { Clock } from '../ports/clock.ts'
import type { Index } from '../ports/index.ts'
import type { JournalReader } from '../ports/journal.ts'
import { type AgentInside, agentsBelow, agentsIn, findAgent, onlySession, viewOfAgent } from './agents.ts'
import { listEvents, sessionEvents } from './read-events.ts'
import { messageView, textOf } from './session-views.ts'
import { sightOf } from './who-may.ts'

const indexWaitMs = 1500
const mostChildren = 10_000
const pastSessions = 200
const pastMs = 10_000
const pageCalls = 1000
const rememberedParents = 10_000

type DirectoryDeps = {
  readonly engine: Engine
  readonly journal: JournalReader
  readonly index: Index
  readonly sessions: () => Sessions | undefined
  readonly observer: Observer
  readonly clock: Clock
}

const operator: Principal = { kind: 'operator', channel: 'api' }

/** A session, or an agent that works inside of one. */
export type Node = AgentInside | { readonly row: SessionRow; readonly run?: undefined }

/** A session, or with a run an agent inside of it. */
type Whose = Pick<SessionRow, 'sessionId'> & { readonly runId?: string }

/** Finds sessions and shows them: rows of the index, with what memory knows beside them. */
export class Directory {
  readonly #deps: DirectoryDeps
  /** Of sessions that are over: nobody moves them any more. */
  readonly #parents = new Map<SessionId, SessionId | undefined>()
  #past: { readonly at: number; readonly rows: readonly SessionRow[] } | undefined

  constructor(deps: DirectoryDeps) {
    this.#deps = deps
  }

  /** The one session a word names, of those its caller knows of; what was just written is found too. */
  async find(word: string, principal: Principal = operator): Promise<SessionRow> {
    const found = await this.findNode(word, principal)
    if (found.run) throw onlySession(found)
    return found.row
  }

  /** The same, or an agent that works inside of one. A word that fits both means the session. */
  async findNode(word: string, principal: Principal = operator): Promise<Node> {
    await this.caughtUp()
    const fitting = await this.#deps.index.ask('findSessions', word, 10)
    const sights = await Promise.all(fitting.map((row) => sightOf(this, principal, row)))
    const found = fitting.filter((_, i) => sights[i] !== 'nothing')
    const [first] = found
    if (!first) {
      const agent = await findAgent(this, word, principal)
      if (agent) return agent
      throw new AppError(
        'not_found',
        `no session or agent "${word}"; sm all lists them, sm all --closed includes ended ones`,
      )
    }
    if (found.length > 1)
      throw new AppError(
        'conflict',
        `"${word}" can mean ${found.length} sessions: ${found.map(candidate).join(', ')}; name one of them`,
      )
    return { row: first }
  }

  /** The session above one: at once for what is in memory, else from the index. */
  parentOf(id: SessionId): SessionId | undefined | Promise<SessionId | undefined> {
    const { engine, index } = this.#deps
    const state = engine.session(id)
    if (state) {
      this.#parents.delete(id)
      return state.parentSessionId
    }
    if (this.#parents.has(id)) return this.#parents.get(id)
    return index.ask('findSessions', id, 1).then(([row]) => {
      const parent = row?.sessionId === id ? (row.parentId ?? undefined) : undefined
      if (this.#parents.size >= rememberedParents) this.#parents.clear()
      if (row) this.#parents.set(id, parent as SessionId | undefined)
      return parent as SessionId | undefined
    })
  }

  /** Lets the index take what is durable by now, so that a caller finds what it has just done. */
  async caughtUp(): Promise<void> {
    const { index, journal } = this.#deps
    await index.reached(journal.watermark(), AbortSignal.timeout(indexWaitMs))
  }

  watermark(): number {
    return this.#deps.journal.watermark()
  }

  ask: Index['ask'] = (method, ...args) => this.#deps.index.ask(method, ...args)

  events(filter: Parameters<typeof listEvents>[1]): ReturnType<typeof listEvents> {
    return listEvents(this.#deps, filter)
  }

  /** The event of a seq. */
  async event(seq: number): Promise<AgentEvent | undefined> {
    const [stored] = await this.#deps.journal.page(seq - 1, 1)
    return stored?.seq === seq ? stored.event : undefined
  }

  async view(row: SessionRow): Promise<SessionView> {
    return (await this.views([row]))[0] as SessionView
  }

  async views(rows: readonly SessionRow[]): Promise<SessionView[]> {
    const { engine, clock } = this.#deps
    const children = new Map<string, number>()
    for (const state of engine.sessions())
      if (state.parentSessionId)
        children.set(state.parentSessionId, (children.get(state.parentSessionId) ?? 0) + 1)
    const ids = rows.map(({ sessionId }) => sessionId)
    const [past, subtrees, counts] = await Promise.all([
      this.#finished(),
      this.#subtrees(rows),
      this.ask('agentCounts', ids),
    ])
    const agents = new Map(counts.map((count) => [count.sessionId, count]))
    return rows.map((row) => {
      const state = engine.session(row.sessionId)
      const [first] = state?.queue ?? []
      return sessionView(row, {
        state,
        held: first && this.#waiting(row.sessionId, first.messageId),
        ...this.seen(row.sessionId),
        typical: typicalUsage(row.agentType, past),
        subtree: subtrees.get(row.sessionId),
        children: children.get(row.sessionId) ?? 0,
        agents: agents.get(row.sessionId),
        now: clock.now(),
      })
    })
  }

  /** Sessions that completed lately; kept for a moment, since every list asks for them. */
  async #finished(): Promise<readonly SessionRow[]> {
    const now = this.#deps.clock.monotonic()
    if (this.#past && now - this.#past.at < pastMs) return this.#past.rows
    const filter = { lifecycle: ['completed'], origin: 'managed', limit: pastSessions }
    const rows = await this.#deps.index.ask('sessions', filter)
    this.#past = { at: now, rows }
    return rows
  }

  /** What each session has used together with all below it; those without any below are their own sum. */
  async #subtrees(rows: readonly SessionRow[]) {
    const sums = new Map<SessionId, Pick<UsageRow, 'costUsd' | 'estimatedUsd'> & { tokens: number }>()
    for (const { sessionId } of rows) {
      if (!this.#deps.engine.session(sessionId)?.descendants) continue
      const [sum] = await this.#deps.index.ask('usage', { sessionId, isSubtree: true })
      sums.set(sessionId, {
        tokens: sum?.tokens ?? 0,
        costUsd: sum?.costUsd ?? null,
        estimatedUsd: sum?.estimatedUsd ?? null,
      })
    }
    return sums
  }

  async detail(row: SessionRow): Promise<SessionDetail> {
    const [view, tools, checkpoints] = await Promise.all([
      this.view(row),
      this.tools(row),
      this.checkpoints(row),
    ])
    return { ...view, tools_used: tools, checkpoints }
  }

  async detailOfAgent(agent: AgentInside): Promise<SessionDetail> {
    const [view, tools, checkpoints] = await Promise.all([
      viewOfAgent(this, agent),
      this.tools(agent.run),
      this.checkpoints(agent.run),
    ])
    return { ...view, tools_used: tools, checkpoints }
  }

  /** A session's descendants, parents first; the filter comes after the walk, so that no branch is lost. */
  async below(row: SessionRow, isRecursive: boolean): Promise<SessionRow[]> {
    const all = await this.#deps.index.ask('subtree', row.sessionId, mostChildren)
    return all.filter(
      ({ sessionId, parentId }) => sessionId !== row.sessionId && (isRecursive || parentId === row.sessionId),
    )
  }

  /** The milestones of a session, or of one agent inside of it. */
  async checkpoints({ sessionId, runId }: Whose): Promise<CheckpointView[]> {
    const views: CheckpointView[] = []
    for await (const event of sessionEvents(this.#deps, sessionId, ['progress.checkpoint']))
      if (event.type === 'progress.checkpoint' && (runId ?? event.runId) === event.runId)
        views.push(checkpointView(event, views.length + 1))
    return views
  }

  async progress(row: SessionRow): Promise<ProgressView> {
    const { evidence } = this.seen(row.sessionId)
    const typical = typicalUsage(row.agentType, await this.#finished())
    const agents = await agentsIn(this, [row], { isOpen: true })
    const notCounted = await this.#notCounted(row)
    return this.#progress(row, { session: await this.view(row), agents, evidence, typical, notCounted })
  }

  /** How far an agent inside of a session is. */
  async progressOfAgent(agent: AgentInside): Promise<ProgressView> {
    const below = await agentsBelow(this, agent, { isRecursive: true })
    const agents = below.filter(({ completed_at }) => completed_at === null)
    const session = { ...(await viewOfAgent(this, agent)), ended_agents: below.length - agents.length }
    return this.#progress(agent.run, {
      session,
      agents,
      evidence: undefined,
      typical: undefined,
      notCounted: null,
    })
  }

  async #progress(
    of: Whose,
    known: Pick<
      Parameters<typeof progressView>[0],
      'session' | 'agents' | 'evidence' | 'typical' | 'notCounted'
    >,
  ): Promise<ProgressView> {
    const [tools, checkpoints, lastTool] = await Promise.all([
      this.tools(of),
      this.checkpoints(of),
      this.#lastTool(of),
    ])
    return progressView({ ...known, tools, checkpoints, lastTool, now: this.#deps.clock.now() })
  }

  /** What an agent asks of people, as subjects of approvals. */
  asksOf({ sessionId, runId }: RunRow): unknown[] {
    const open = this.#deps.engine.session(sessionId)?.open.values() ?? []
    return [...open].flatMap((span) =>
      span.kind === 'approval' && span.runId === runId ? [span.facts['subject']] : [],
    )
  }

  /** What was seen of a session and what it means: of ours by following it, of others by looking. */
  seen(id: SessionId) {
    const watch = this.#deps.sessions()?.get(id)?.watch
    if (watch) {
      const { verdict, evidence, shown } = watch
      return { verdict, evidence, shown, options: watch.judgeOptions() }
    }
    const { observer } = this.#deps
    const seen = observer.get(id)
    const options = observer.judgeOptions()
    return { verdict: seen?.verdict(options), evidence: seen?.evidence, options }
  }

  /** A message, and while it has no end what it waits for. */
  message(row: MessageRow): MessageView {
    if (row.state === 'accepted' || row.state === 'failed') return messageView(row)
    return messageView(row, this.#waiting(row.sessionId, row.messageId))
  }

  #waiting(id: SessionId, messageId: string): string | undefined {
    const delivery = this.#deps.sessions()?.get(id)?.delivery
    if (delivery) return delivery.waiting(messageId)
    const { managed, lifecycle } = this.#deps.engine.session(id) ?? {}
    return managed?.origin === 'runtime' && lifecycle === 'running' ? 'the agent is working' : undefined
  }

  /** The live part of a session, while it is followed. */
  followed(row: SessionRow) {
    return this.#deps.sessions()?.get(row.sessionId)
  }

  /** How often each tool was called in a session, or by one agent inside of it. */
  async tools({ sessionId, runId }: Whose): Promise<Record<string, number>> {
    const counts = await this.#deps.index.ask('toolCounts', { sessionId, runId })
    return Object.fromEntries(counts.map(({ tool, count }) => [tool, count]))
  }

  async #notCounted({ sessionId, cli }: SessionRow): Promise<string | null> {
    const signs = await Array.fromAsync(sessionEvents(this.#deps, sessionId, untoldSigns))
    const isCompacted = signs.some(({ type }) => type === 'context.compacted')
    return notCounted(cli, signs, isCompacted ? await this.#untoldSeq(sessionId) : 0)
  }

  /** Where a CLI told a sum in which there is more than in the calls that it wrote down. */
  async #untoldSeq(sessionId: SessionId): Promise<number> {
    let found = 0
    for (let after = 0; ; ) {
      const calls = await this.#deps.index.ask('ledger', { sessionId, after, limit: pageCalls })
      for (const { responseId, lastSeq } of calls)
        if (isUntoldCall(responseId)) found = Math.max(found, lastSeq)
      if (calls.length < pageCalls) return found
      after = calls.at(-1)?.seq ?? after
    }
  }

  async #lastTool({ sessionId, runId }: Whose) {
    const filter = { sessionId, runId, type: 'tool.call.started', limit: 1 }
    const { events } = await listEvents(this.#deps, filter)
    const last = events.at(-1)
    if (last?.type !== 'tool.call.started') return undefined
    return { tool: last.payload.tool, atMs: Date.parse(last.timestamp), args: last.payload.params ?? {} }
  }
}

const candidate = ({ shortId, friendlyName, name, lifecycle }: SessionRow): string =>
  `${shortId} (${[friendlyName ?? name, lifecycle].filter(Boolean).join(', ')})`

/** A milestone as it is shown; one of a journal from before they had numbers has the one its place gives it. */
export function checkpointView(
  { timestamp, payload }: EventOf<'progress.checkpoint'>,
  place: number,
): CheckpointView {
  const { message, metadata, commit, tokensAtCheckpoint, costUsd, number = place } = payload
  return {
    timestamp,
    message: textOf(message),
    metadata: metadata ?? null,
    number,
    commit: commit ?? null,
    tokens: tokensAtCheckpoint ?? null,
    cost_usd: costUsd ?? null,
  }
}
