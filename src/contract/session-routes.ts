import * as z from 'zod'
import { AgentCliName } from './config/names.ts'
import { nearest } from './config/nearest.ts'
import { eventWords } from './event.ts'
import { lastMoment } from './formats/foreign-json.ts'
import { Check } from './health.ts'
import { route } from './route.ts'
import { places } from './route-places.ts'
import {
  ApprovalView,
  CheckpointView,
  ExplanationView,
  MessageView,
  MetricsView,
  ProcessView,
  ProgressView,
  RestoredView,
  SessionDetail,
  SessionEventView,
  SessionName,
  SessionView,
  SpawnedView,
  SpawnRequest,
  SuspectView,
  UnsavedView,
} from './session-views.ts'
import { Budget, Count, Lifecycle } from './values.ts'

/** How a caller names a session: long id, short id, a unique prefix, or its name. */
export const SessionRef = z.string().min(1, 'name a session; sm all lists them').max(200)
const one = { id: SessionRef } as const
const Text = z.string().max(1024 * 1024)
const limit = (most: number, usual: number) => z.coerce.number<number>().int().min(1).max(most).default(usual)
/** A yes or no in a query. */
export const flag = z
  .enum(['true', 'false', '1', '0'])
  .transform((word) => word === 'true' || word === '1')
  .or(z.boolean())

/** Some of these words, separated by commas. */
export const wordsOf = (known: readonly string[], { called, list }: { called: string; list: string }) =>
  z
    .string()
    .max(8192)
    .superRefine((text, refused) => {
      const unknown = text.split(',').find((word) => !known.includes(word))
      if (unknown === undefined) return
      const near = nearest(unknown, known)
      const hint = near === undefined ? '' : ` did you mean ${near}?`
      const message = `'${unknown.slice(0, 64)}' is not ${called};${hint} there are: ${list}`
      refused.addIssue({ code: 'custom', message })
    })
const Seq = z.coerce.number<number>().int().nonnegative()
/** Which lines of `sm events` are asked for. */
const told = {
  type: wordsOf(eventWords, { called: 'a word of sm events', list: eventWords.join(', ') }).optional(),
  limit: limit(1000, 100),
  after: Seq.optional(),
  since: z.string().max(40).optional(),
} as const

/** The routes of managed sessions. A session's own token reaches itself and what is below it. */
export const sessionRoutes = {
  spawnSession: route({
    ...places.spawnSession,
    access: 'session',
    input: SpawnRequest,
    output: SpawnedView,
    summary: 'Start an agent as a child of the caller, or at the root',
  }),
  listSessions: route({
    ...places.listSessions,
    access: 'session',
    input: z.strictObject({
      before: Seq.optional(),
      limit: limit(1000, 100),
      lifecycle: Lifecycle.optional(),
      /** Only those whose program still runs or which have not ended. */
      open: flag.optional(),
      /** With the agents that work inside of each: subagents, members of crews, agents of scripts. */
      agents: flag.optional(),
      parent: SessionRef.optional(),
      origin: z.enum(['managed', 'observed', 'runtime', 'workflow', 'imported']).optional(),
      working_dir: z.string().max(4096).optional(),
    }),
    output: z.strictObject({
      sessions: z.array(SessionView),
      next: Count.nullable(),
      /** Sessions that have ended and would be in the list if not only open ones were asked for. */
      hidden: Count,
    }),
    summary: 'Sessions, newest first, paged by the seq they began at',
  }),
  getSession: route({
    ...places.getSession,
    access: 'session',
    input: z.strictObject(one),
    output: SessionDetail,
    summary: 'One session with its milestones and tools',
  }),
  updateSession: route({
    ...places.updateSession,
    access: 'subtree',
    input: z.strictObject({
      ...one,
      name: SessionName.optional(),
      task: z.string().max(1000).nullable().optional(),
      lock: z.string().max(1000).nullable().optional(),
      /** What it and all below it may use from now on, in place of what they might before. */
      budget: Budget.optional(),
    }),
    output: SessionView,
    summary: 'Name a session, set its task, lock its workspace, or change its budget',
  }),
  listChildren: route({
    ...places.listChildren,
    access: 'session',
    input: z.strictObject({
      ...one,
      recursive: flag.optional(),
      status: z.enum(['running', 'completed', 'error', 'all']).optional(),
    }),
    output: z.strictObject({ children: z.array(SessionView) }),
    summary: 'The sessions below a session, and the agents that work inside of them',
  }),
  getProgress: route({
    ...places.getProgress,
    access: 'subtree',
    takesAgents: true,
    input: z.strictObject(one),
    output: ProgressView,
    summary: 'The progress of a session, or of an agent that works inside of one',
  }),
  getMetrics: route({
    ...places.getMetrics,
    access: 'subtree',
    takesAgents: true,
    input: z.strictObject(one),
    output: MetricsView,
    summary: 'The figures of progress in three groups: tokens, tools and activity',
  }),
  listCheckpoints: route({
    ...places.listCheckpoints,
    access: 'subtree',
    input: z.strictObject(one),
    output: z.strictObject({ checkpoints: z.array(CheckpointView) }),
    summary: 'The milestones of a session, oldest first',
  }),
  addCheckpoint: route({
    ...places.addCheckpoint,
    access: 'subtree',
    input: z.strictObject({
      ...one,
      message: z
        .string()
        .min(1)
        .max(16 * 1024),
      metadata: z.record(z.string().max(200), z.unknown()).optional(),
    }),
    output: CheckpointView,
    summary: 'Record a milestone with the state of the work tree, tokens and cost',
  }),
  diffCheckpoints: route({
    ...places.diffCheckpoints,
    access: 'subtree',
    input: z.strictObject({
      ...one,
      from: z.coerce.number<number>().int().positive(),
      to: z.coerce.number<number>().int().positive().optional(),
    }),
    output: z.strictObject({
      from: CheckpointView,
      to: CheckpointView.nullable(),
      files: z.array(
        z.strictObject({
          path: z.string(),
          change: z.string(),
          added: Count.nullable(),
          removed: Count.nullable(),
        }),
      ),
      diff: z.string(),
      tokens: z.number().nullable(),
      cost_usd: z.number().nullable(),
      seconds: Count,
    }),
    summary: 'What changed between two milestones, or since one',
  }),
  completeSession: route({
    ...places.completeSession,
    access: 'subtree',
    input: z.strictObject({
      ...one,
      message: Text.optional(),
      status: z.enum(['completed', 'error', 'abandoned']).default('completed'),
    }),
    output: SessionView,
    summary: 'Report that a session is done; its parent is notified',
  }),
  listSessionEvents: route({
    ...places.listSessionEvents,
    access: 'subtree',
    takesAgents: true,
    input: z.strictObject({ ...one, ...told }),
    output: z.strictObject({ events: z.array(SessionEventView), seq: Count }),
    summary: 'What happened in a session and to its children, or to one agent inside of it, oldest first',
  }),
  listFleetEvents: route({
    ...places.listFleetEvents,
    access: 'session',
    input: z.strictObject(told),
    output: z.strictObject({ events: z.array(SessionEventView), seq: Count }),
    summary: 'What happened in all sessions that the caller may see, oldest first',
  }),
  sendMessage: route({
    ...places.sendMessage,
    access: 'below',
    input: z.strictObject({
      ...one,
      text: Text.min(1),
      mode: z.enum(['sequential', 'important', 'urgent']).default('sequential'),
    }),
    output: MessageView,
    summary: 'Queue a message for a session; if the session is asking a question, it is the answer',
    maxBodyBytes: 2 * 1024 * 1024,
  }),
  listMessages: route({
    ...places.listMessages,
    access: 'subtree',
    input: z.strictObject({ ...one, limit: limit(1000, 100), failed: flag.optional() }),
    output: z.strictObject({ messages: z.array(MessageView) }),
    summary: 'The messages to a session and their receipts, oldest first',
  }),
  getMessage: route({
    ...places.getMessage,
    access: 'session',
    input: z.strictObject({ message: z.string().min(1).max(200) }),
    output: MessageView,
    summary: 'One message and its receipt',
  }),
  interruptSession: route({
    ...places.interruptSession,
    access: 'below',
    input: z.strictObject(one),
    output: SessionView,
    summary: 'Stop what a session is doing, as Escape does',
  }),
  listUnsaved: route({
    ...places.listUnsaved,
    access: 'subtree',
    takesAgents: true,
    input: z.strictObject(one),
    output: z.strictObject({ sessions: z.array(UnsavedView) }),
    summary: 'What ending a session would cut off, in it and its descendants',
  }),
  killSession: route({
    ...places.killSession,
    access: 'subtree',
    takesAgents: true,
    input: z.strictObject({ ...one, force: z.boolean().optional(), reason: z.string().max(1000).optional() }),
    output: z.strictObject({
      killed: z.array(SessionView),
      /** Processes that would not end. */
      left: z.array(Count),
      /** Processes that may be of one of them, and were not ended. */
      suspects: z.array(SuspectView).optional(),
    }),
    summary: 'End a session and its descendants, or one agent inside of it',
  }),
  resumeSession: route({
    ...places.resumeSession,
    access: 'below',
    input: z.strictObject(one),
    output: SessionView,
    summary: 'Restart the program of a session with its conversation',
  }),
  adoptSession: route({
    ...places.adoptSession,
    access: 'below',
    input: z.strictObject({
      ...one,
      parent: SessionRef.optional(),
      /** The caller's environment, from which a session that is taken over is started as by a spawn. */
      environment: SpawnRequest.shape.environment,
    }),
    output: SessionView,
    summary: 'Take an abandoned or observed session under a new parent',
  }),
  explainSession: route({
    ...places.explainSession,
    access: 'subtree',
    input: z.strictObject(one),
    output: ExplanationView,
    summary: 'Every signal behind the state of a session, and what would change it',
  }),
  getOutput: route({
    ...places.getOutput,
    access: 'subtree',
    takesAgents: true,
    input: z.strictObject({ ...one, lines: limit(50_000, 50) }),
    output: z.strictObject({ lines: z.array(z.string()), is_alive: z.boolean() }),
    summary: 'The last lines of a session’s terminal',
  }),
  getTranscript: route({
    ...places.getTranscript,
    access: 'subtree',
    takesAgents: true,
    input: z.strictObject({ ...one, limit: limit(1000, 50) }),
    output: z.strictObject({
      path: z.string().nullable(),
      entries: z.array(z.strictObject({ at: z.string(), who: z.string(), text: z.string() })),
    }),
    summary: 'The end of a conversation: prompts, answers and tools',
  }),
  getAttach: route({
    ...places.getAttach,
    access: 'subtree',
    input: z.strictObject(one),
    output: z.strictObject({ argv: z.array(z.string()), session_id: z.string(), name: z.string() }),
    summary: 'The command that shows a session’s terminal',
  }),
  getSummary: route({
    ...places.getSummary,
    access: 'subtree',
    input: z.strictObject(one),
    output: z.strictObject({
      session_id: z.string(),
      name: z.string(),
      summary: z.string(),
      /** Who or what made it. */
      made_by: z.string(),
    }),
    summary: 'What a session is about, from what it said itself',
  }),
  listApprovals: route({
    ...places.listApprovals,
    access: 'session',
    input: z.strictObject({ session: SessionRef.optional(), all: flag.optional(), limit: limit(1000, 100) }),
    output: z.strictObject({ approvals: z.array(ApprovalView) }),
    summary: 'What is waiting for a decision, oldest first',
  }),
  decideApproval: route({
    ...places.decideApproval,
    access: 'session',
    input: z.strictObject({
      /** An approval, or a session with exactly one open approval. */
      id: z.string().min(1).max(200),
      verdict: z.enum(['allow', 'deny']),
      scope: z.enum(['once', 'session', 'always']).default('once'),
      reason: z.string().max(4096).optional(),
      answers: z.record(z.string().max(4096), z.string().max(4096)).optional(),
    }),
    output: ApprovalView,
    summary: 'Decide; the first decision counts',
  }),
  listProcesses: route({
    ...places.listProcesses,
    access: 'session',
    input: z.strictObject({}),
    output: z.strictObject({ processes: z.array(ProcessView) }),
    summary: 'The processes of all sessions, including those left behind',
  }),
  restoreSessions: route({
    ...places.restoreSessions,
    access: 'operate',
    input: z.strictObject({ dry_run: z.boolean().optional() }),
    output: z.strictObject({ sessions: z.array(RestoredView) }),
    summary: 'Bring back sessions that a restart ended, and report what happened to each',
  }),
  checkSessions: route({
    ...places.checkSessions,
    access: 'operate',
    input: z.strictObject({}),
    output: z.strictObject({ checks: z.array(Check) }),
    summary: 'Whether sessions can run here: opens a terminal briefly and checks from inside',
  }),
  whoAmI: route({
    ...places.whoAmI,
    access: 'session',
    input: z.strictObject({}),
    output: z.strictObject({ session: SessionView.nullable(), operator: z.boolean() }),
    summary: 'The session that the caller’s token belongs to',
  }),
  runHook: route({
    ...places.runHook,
    access: 'session',
    input: z.strictObject({ cli: AgentCliName, at: z.number().min(0).max(lastMoment), payload: z.unknown() }),
    output: z.strictObject({ body: z.string(), exit_code: Count }),
    summary: 'The same for a hook that is a command: what it prints and how it exits',
    maxBodyBytes: 16 * 1024 * 1024,
  }),
  receiveHook: route({
    ...places.receiveHook,
    access: 'session',
    input: z.looseObject({ cli: AgentCliName }),
    output: z.unknown(),
    summary: 'What a CLI’s hook, plugin or status line reports; the answer is in that CLI’s own words',
    maxBodyBytes: 16 * 1024 * 1024,
  }),
} as const
