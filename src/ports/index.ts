import type { AgentEvent } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import type {
  ApprovalLatency,
  ApprovalRow,
  FeedRow,
  IndexCounts,
  LedgerRow,
  MessageRow,
  ParkedRow,
  RunRow,
  SearchHit,
  SessionRow,
  SpanRow,
  StatsRow,
  TaskRow,
  UsageRow,
  WorkflowRow,
} from '../contract/index-rows.ts'

/** How far a follower has come: the last seq it took and that event's id. */
export type Position = { readonly seq: number; readonly id: string | null }

/** What became of a batch. */
export type Applied = {
  readonly applied: number
  readonly parked: readonly { readonly seq: number; readonly error: string }[]
  /** Erased lines had left text in rows that cannot be told apart: build the index again. */
  readonly isStale: boolean
}

/** Something that takes events by seq and keeps its cursor with its rows. */
export type Follower = {
  position(): Position
  /** Takes the events after its position, in one transaction; repeats are passed over. */
  apply(events: readonly AgentEvent[]): Applied
  close(): void
}

/** Why a file cannot be used; deleting it and building it again helps in both cases. */
export type IndexProblem = 'corrupt' | 'newer'

/** A follower that was opened, or why it was not. */
export type Opened<T extends Follower> =
  | { readonly ok: true; readonly follower: T; readonly isEmpty: boolean }
  | { readonly ok: false; readonly problem: IndexProblem; readonly detail: string }

/** A page: rows on one side of a number, at most so many. */
export type Page = {
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly limit?: number | undefined
}

/** A page of what belongs to one session and those below it; to any without `within`. */
type Within = Page & { readonly within?: string | undefined }

/** Which sessions; what is not said does not matter. */
export type SessionFilter = Page & {
  /** What this session may know of: itself and those below it, the one above it and those beside it. */
  readonly seenFrom?: string | undefined
  readonly lifecycle?: readonly string[]
  readonly parentId?: string
  readonly isRoot?: boolean
  readonly isOpen?: boolean
  readonly agentType?: string
  readonly origin?: string
  readonly workingDir?: string
  /** A part of the name, title or prompt. */
  readonly text?: string
}
/** Which runs. */
export type RunFilter = Within & {
  readonly runId?: string
  readonly sessionId?: string
  readonly parentRunId?: string
  readonly isOpen?: boolean
  /** Only executions of agents; a session has a run of its own, around those of its agents. */
  readonly isAgent?: boolean
  /** Only agents that work inside of a session for another run of it, and not its own turns. */
  readonly isInside?: boolean
  readonly workingDir?: string
  readonly isNewestFirst?: boolean
}
/** The agents inside of one session. */
export type AgentCount = {
  readonly sessionId: SessionId
  readonly running: number
  readonly ended: number
}
/** Which tasks. */
export type TaskFilter = Page & {
  readonly sessionId?: string
  readonly traceId?: string
  readonly status?: string
}
/** Which messages. */
export type MessageFilter = Page & {
  readonly sessionId?: string
  readonly messageId?: string
  readonly correlationId?: string
  readonly messageType?: string
}
/** Which approvals. */
export type ApprovalFilter = Within & {
  readonly approvalId?: string
  readonly sessionId?: string
  readonly isPending?: boolean
}
/** Which workflows. */
export type WorkflowFilter = Within & {
  readonly workflowId?: string
  readonly sessionId?: string
  readonly status?: string
}
/** Which spans. */
export type SpanFilter = Within & {
  readonly sessionId?: string
  readonly traceId?: string
  readonly isOpen?: boolean
}
/** Which model calls. */
export type LedgerFilter = Page & { readonly sessionId?: string }
/** What to add up, and by what; without `by` the answer is one row. */
export type UsageFilter = {
  readonly sessionId?: string
  /** Also what the session's descendants used. */
  readonly isSubtree?: boolean
  readonly by?: 'session' | 'run' | 'model'
}
/** Which events. */
export type FeedFilter = Within & {
  readonly types?: readonly string[]
  readonly sessionId?: string
  readonly runId?: string
}
/** What counters can be cut by. */
export type Slice = 'day' | 'sessionId' | 'actor' | 'workflowId' | 'phase'
/** Which counters; days are dates (UTC) and both ends count. */
export type StatsFilter = {
  readonly by?: readonly Slice[]
  readonly sessionId?: string
  readonly fromDay?: string
  readonly toDay?: string
  readonly limit?: number
}

/** Questions to the index. Each answer is one page; none reads the journal. */
export type IndexQueries = {
  /** Newest first; paged by `firstSeq`. */
  sessions(filter: SessionFilter): SessionRow[]
  /** How many sessions there are, whatever the page. */
  sessionCount(filter: SessionFilter): number
  /** The sessions a word can mean: id, short id, name, foreign id, else the beginning of a short id or name. */
  findSessions(word: string, limit?: number): SessionRow[]
  /** A session and its descendants, parents first. */
  subtree(sessionId: string, limit?: number): SessionRow[]
  /** Oldest first; paged by `firstSeq`. */
  runs(filter: RunFilter): RunRow[]
  /** The agents inside of sessions that a word can mean: id, short id, name, else the beginning of a short id. */
  findAgents(word: string, limit?: number): RunRow[]
  /** How many agents there are inside of each of these sessions; those without any are left out. */
  agentCounts(sessionIds: readonly string[]): AgentCount[]
  /** Oldest first; paged by `firstSeq`. */
  tasks(filter: TaskFilter): TaskRow[]
  /** Oldest first; paged by `seq`. */
  messages(filter: MessageFilter): MessageRow[]
  /** Oldest first; paged by `seq`. */
  approvals(filter: ApprovalFilter): ApprovalRow[]
  approvalLatency(filter: { readonly sessionId?: string }): ApprovalLatency
  /** Newest first; paged by `seq`. */
  workflows(filter: WorkflowFilter): WorkflowRow[]
  /** By first event; paged by `seq`. */
  spans(filter: SpanFilter): SpanRow[]
  /** How often each tool was called in a session, or in one run of it. */
  toolCounts(of: { readonly sessionId: string; readonly runId?: string | undefined }): {
    readonly tool: string
    readonly count: number
  }[]
  /** Oldest first; paged by `seq`. */
  ledger(filter: LedgerFilter): LedgerRow[]
  usage(filter: UsageFilter): UsageRow[]
  /** Oldest first after `after`; else the newest before `before`, newest first. */
  events(filter: FeedFilter): FeedRow[]
  stats(filter: StatsFilter): StatsRow[]
  counts(): IndexCounts
  parked(limit?: number): ParkedRow[]
  position(): Position
  close(): void
}

/** Where to search, how much to answer and in which order. */
export type SearchFilter = {
  /** Only in these. */
  readonly sessions?: readonly string[] | undefined
  readonly type?: string
  readonly limit?: number
  /** `best` ranks the newest few thousand matches; `newest` is quick on any number of them. */
  readonly order?: 'best' | 'newest'
}

/** Full-text questions. No query is an error: what cannot be understood is taken as words. */
export type SearchQueries = {
  search(query: string, filter?: SearchFilter): SearchHit[]
  position(): Position
  close(): void
}

type Questions = Omit<IndexQueries, 'close'>

/** The index as those use it who may not wait for it in their own thread. */
export type Index = {
  ask<M extends keyof Questions>(
    method: M,
    ...args: Parameters<Questions[M]>
  ): Promise<ReturnType<Questions[M]>>
  search(...args: Parameters<SearchQueries['search']>): Promise<ReturnType<SearchQueries['search']>>
  /** Resolves when everything up to a seq is in it; false when the signal or the end of the daemon ends the wait. */
  reached(seq: number, signal: AbortSignal): Promise<boolean>
  /** Builds it again from the journal. */
  rebuild(): void
}
