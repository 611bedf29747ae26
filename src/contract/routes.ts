import * as z from 'zod'
import { Capability } from './agent-definition.ts'
import { Crew } from './crew.ts'
import { AppendRequest, AppendResponse, EventEnvelope, eventTypes } from './event.ts'
import { Health, JournalStats, SelfReport } from './health.ts'
import { RunId, SessionId, TraceId } from './ids.ts'
import { FeedRow, RunRow, SearchHit, SpanRow } from './index-rows.ts'
import { ModelsView } from './model-status.ts'
import type { CallContext } from './principal.ts'
import { mostTrusted, TrustedFile, TrustView } from './project-trust.ts'
import { type Route, route } from './route.ts'
import { places } from './route-places.ts'
import { runtimeRoutes } from './runtime-routes.ts'
import { flag, SessionRef, sessionRoutes, wordsOf } from './session-routes.ts'
import { SuspectView } from './session-views.ts'
import { AgentKind, Count } from './values.ts'
import { workflowRoutes } from './workflow-routes.ts'

/** How a stream names a session; it compares ids and looks nothing up. */
const StreamSession = z.union([
  SessionId,
  z.string().regex(/^[0-9a-f]{8}$/, 'expected a session id (ses_…) or its 8 hex digits'),
])
/** Where a stream goes on: the id of the last frame the caller has, or a bare seq. */
const FrameId = z.string().max(40)
const Seq = z.coerce.number<number>().int().nonnegative()
const limit = (most: number, usual: number) => z.coerce.number<number>().int().min(1).max(most).default(usual)
/** Event types, separated by commas. */
const Types = wordsOf(eventTypes, { called: 'an event type', list: 'those of docs/reference/events.md' })
const nothing = z.strictObject({})
/** The full path of a folder. */
const Path = z.string().min(1).max(4096)
/** Lists are paged by the seq of their rows, which never changes: each row comes once while new ones arrive. */
const after = { after: Seq.optional() }
const before = { before: Seq.optional() }

const Names = z.array(z.string()).readonly()
/** An agent definition as it is shown; the rest of its file is the runtime's affair. */
const AgentView = z.looseObject({
  name: z.string(),
  aliases: Names,
  description: z.string(),
  kind: AgentKind,
  tools: Names,
  policy: z.looseObject({
    allow: z.array(Capability).readonly(),
    delegateTargets: z.union([Names, z.literal('any')]),
  }),
  model: z.string().optional(),
  source: z.enum(['shipped', 'user', 'project']),
  file: z.string(),
})

/** The same in the words of the runtime contract. */
const AgentType = z.strictObject({
  agent_id: z.string(),
  agent_kind: AgentKind,
  aliases: z.array(z.string()),
  description: z.string(),
  /** Absent when it takes the default one. */
  model: z.string().optional(),
  tools: z.array(z.string()),
  policy: z.strictObject({
    allow: z.array(Capability),
    delegate_targets: z.union([z.array(z.string()), z.literal('any')]),
  }),
  work_globs: z.array(z.string()),
  source: z.enum(['shipped', 'user', 'project']),
  file: z.string(),
})

/** Where a setting was written, or that nobody wrote it. */
const Origin = z.union([z.strictObject({ file: z.string(), line: Count }), z.literal('default')])

/** An event as a reader takes it: a newer daemon may have types and fields that this code does not know. */
export const WireEvent = z.looseObject({
  ...EventEnvelope.shape,
  type: z.string(),
  schemaVersion: z.string(),
})
export type WireEvent = z.infer<typeof WireEvent>

/** The body of every refusal. */
export const Problem = z.looseObject({
  code: z.string(),
  message: z.string(),
  details: z.unknown().optional(),
})
export type Problem = z.infer<typeof Problem>

/** Every route there is; server, client, OpenAPI and the route tests interpret this table. */
export const routes = {
  health: route({
    ...places.health,
    access: 'open',
    input: nothing,
    output: Health,
    summary: 'Version, address and state of the daemon, at once',
  }),
  doctor: route({
    ...places.doctor,
    access: 'operate',
    input: nothing,
    output: SelfReport,
    summary: 'What the daemon reports about itself',
  }),
  listEvents: route({
    ...places.listEvents,
    access: 'session',
    input: z.strictObject({
      ...after,
      ...before,
      limit: limit(1000, 100),
      type: Types.optional(),
      session: SessionRef.optional(),
    }),
    output: z.strictObject({
      events: z.array(WireEvent),
      oldest: Count,
      seq: Count,
      /** Events of this page that were acknowledged and cannot be read any more: damaged, lost or erased. */
      unreadable: z.array(z.strictObject({ from: Count, to: Count })).optional(),
    }),
    summary: 'Events, oldest first: those after a seq, or else the newest (before a seq)',
  }),
  appendEvents: route({
    ...places.appendEvents,
    access: 'session',
    input: AppendRequest,
    output: AppendResponse,
    summary: 'Append a batch of events; each item gets its own answer',
  }),
  streamEvents: route({
    ...places.streamEvents,
    access: 'session',
    input: z.strictObject({
      after: FrameId.optional(),
      type: Types.optional(),
      /** Only those that have a line in `sm events`. */
      told: flag.optional(),
      session: StreamSession.optional(),
      run: RunId.optional(),
      trace: TraceId.optional(),
    }),
    output: WireEvent,
    summary: 'Canonical events as they become durable',
  }),
  streamRuntime: route({
    ...places.streamRuntime,
    access: 'session',
    input: z.strictObject({
      after: FrameId.optional(),
      session_id: StreamSession.optional(),
      project_root: z.string().min(1).max(4096).optional(),
    }),
    output: z.looseObject({ type: z.string(), session_id: z.string(), run_id: z.string() }),
    summary: 'The same events under the names of the runtime contract, with live tokens',
  }),
  ...sessionRoutes,
  ...runtimeRoutes,
  ...workflowRoutes,
  listRuns: route({
    ...places.listRuns,
    access: 'subtree',
    input: z.strictObject({ id: SessionRef, ...after, limit: limit(1000, 100) }),
    output: z.strictObject({ runs: z.array(RunRow) }),
    summary: 'The runs of a session, oldest first, paged by firstSeq',
  }),
  listTrace: route({
    ...places.listTrace,
    access: 'subtree',
    takesAgents: true,
    input: z.strictObject({ id: SessionRef, ...after, limit: limit(5000, 1000) }),
    output: z.strictObject({
      /** The sessions of the trace: the one that is named and all below it. */
      sessions: z.array(z.strictObject({ sessionId: SessionId, parentId: SessionId.nullable() })),
      /** The run of the agent that is named, where one is. */
      runId: RunId.nullable(),
      spans: z.array(SpanRow),
      /** Points that a trace shows as leaves. */
      marks: z.array(FeedRow),
      /** How much of the journal this page knows. */
      seq: Count,
      next: Count.nullable(),
    }),
    summary:
      'The spans and marks of a session and of all below it, by their first event; the next page is after next',
  }),
  search: route({
    ...places.search,
    access: 'session',
    input: z.strictObject({
      q: z.string().min(1).max(1000),
      session: SessionRef.optional(),
      limit: limit(200, 20),
    }),
    output: z.strictObject({ hits: z.array(SearchHit) }),
    summary: 'Where words occur, best match first',
  }),
  exportLog: route({
    ...places.exportLog,
    access: 'subtree',
    input: z.strictObject({ id: SessionRef }),
    output: z.strictObject({ filename: z.string(), kind: z.string(), document: z.unknown() }),
    summary: 'The session file of a session, with the name the format gives it',
  }),
  importLog: route({
    ...places.importLog,
    access: 'operate',
    input: z.strictObject({ document: z.unknown(), filename: z.string().min(1).max(1024).optional() }),
    output: z.strictObject({
      sessionId: SessionId,
      shortId: z.string(),
      events: Count,
      repairs: z.array(z.looseObject({ path: z.string(), message: z.string() })),
      duplicate: z.boolean(),
    }),
    summary: 'Read a session file into the journal; the same file again adds nothing',
    maxBodyBytes: 128 * 1024 * 1024,
  }),
  listAgents: route({
    ...places.listAgents,
    access: 'session',
    input: nothing,
    output: z.strictObject({ agents: z.array(AgentView).readonly() }),
    summary: 'The agent definitions in use',
  }),
  getAgent: route({
    ...places.getAgent,
    access: 'session',
    input: z.strictObject({ name: z.string().min(1).max(64) }),
    output: AgentView,
    summary: 'One agent definition, by name or alias',
  }),
  listCrews: route({
    ...places.listCrews,
    access: 'session',
    input: nothing,
    output: z.strictObject({ crews: z.array(Crew).readonly() }),
    summary: 'The crews that can be run',
  }),
  getCrew: route({
    ...places.getCrew,
    access: 'session',
    input: z.strictObject({ name: z.string().min(1).max(64) }),
    output: Crew,
    summary: 'One crew, by name or alias',
  }),
  listModels: route({
    ...places.listModels,
    access: 'session',
    input: nothing,
    output: ModelsView,
    summary: 'Providers of models, whether they can be used or why not, and the default',
  }),
  chooseWorker: route({
    ...places.chooseWorker,
    access: 'operate',
    input: z.strictObject({
      project_root: z.string().min(1).max(4096),
      agent_id: z.string().min(1).max(64).optional(),
      model: z.string().min(1).max(200).optional(),
      cli: z.string().min(1).max(64).optional(),
    }),
    output: z.strictObject({
      /** `own` is a built-in agent on the model below; anything else is a coding CLI. */
      cli: z.string(),
      model: z.string().nullable(),
      why: z.string(),
      /** A person named it, on the command line or in the settings. */
      named: z.boolean(),
    }),
    summary: 'Who would answer here, and why: a model, or a coding CLI that is logged in',
  }),
  listAgentTypes: route({
    ...places.listAgentTypes,
    access: 'session',
    input: nothing,
    output: z.array(AgentType),
    summary: 'The agents that can be run, in the words of the runtime contract',
  }),
  getConfig: route({
    ...places.getConfig,
    access: 'operate',
    input: nothing,
    output: z.array(z.strictObject({ key: z.string(), value: z.unknown(), origin: Origin })),
    summary: 'Every current setting and where it was set',
  }),
  listTrust: route({
    ...places.listTrust,
    access: 'operate',
    input: z.strictObject({ path: Path.optional() }),
    output: z.strictObject({ projects: z.array(TrustView) }),
    summary: 'What is trusted of each project, or what could be trusted of the one that a folder is in',
  }),
  trustProject: route({
    ...places.trustProject,
    access: 'operate',
    input: z.strictObject({ root: Path, files: z.array(TrustedFile).max(mostTrusted) }),
    output: TrustView,
    summary: 'Trust these files of a project, which must be all that listTrust shows and unchanged',
  }),
  endTrust: route({
    ...places.endTrust,
    access: 'operate',
    input: z.strictObject({ path: Path }),
    output: TrustView,
    summary: 'End the trust of a project',
  }),
  journalStats: route({
    ...places.journalStats,
    access: 'operate',
    input: nothing,
    output: JournalStats,
    summary: 'Size of the journal, its first and last event',
  }),
  rebuildIndex: route({
    ...places.rebuildIndex,
    access: 'operate',
    input: nothing,
    output: z.strictObject({ seq: Count }),
    summary: 'Rebuild the index from the journal; the answer is the last event in it',
  }),
  createLoginLink: route({
    ...places.createLoginLink,
    access: 'operate',
    input: nothing,
    output: z.strictObject({ url: z.string() }),
    summary: 'A link that logs a browser in, once',
  }),
  shutdown: route({
    ...places.shutdown,
    access: 'operate',
    input: z.strictObject({ sessions: z.boolean().optional() }),
    output: z.strictObject({
      stopping: z.literal(true),
      killed: Count,
      suspects: z.array(SuspectView).optional(),
    }),
    summary: 'Stop the daemon; sessions keep running, unless they should end with it',
  }),
  openapi: route({
    ...places.openapi,
    access: 'session',
    input: nothing,
    output: z.looseObject({ openapi: z.string() }),
    summary: 'This API as an OpenAPI 3.1 document',
  }),
} as const satisfies Record<keyof typeof places, Route>

export type Routes = typeof routes
export type RouteName = keyof Routes
/** The table in its order, for what goes over all of it. */
export const routeEntries = Object.entries(routes) as readonly [RouteName, Route][]

type Answering<A extends Route['answers']> = {
  [N in RouteName]: Routes[N]['answers'] extends A ? N : never
}[RouteName]
/** Routes that answer one JSON value. */
export type JsonRouteName = Answering<'json'>
/** Routes that answer a stream of events. */
export type SseRouteName = Answering<'sse'>

/** What a caller passes. */
export type RouteInput<N extends RouteName> = z.input<Routes[N]['input']>
/** What a caller gets. */
export type RouteOutput<N extends RouteName> = z.output<Routes[N]['output']>

/** What stands behind the JSON routes; the server serves its own description itself. */
export type Api = {
  readonly [N in Exclude<JsonRouteName, 'openapi'>]: (
    input: z.output<Routes[N]['input']>,
    context: CallContext,
  ) => Promise<z.input<Routes[N]['output']>>
}
