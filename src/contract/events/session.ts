import * as z from 'zod'
import { Capability } from '../agent-definition.ts'
import { event, quoted } from '../event-definition.ts'
import { RunId, SessionId } from '../ids.ts'
import {
  Activity,
  Agent,
  Body,
  Budget,
  Count,
  Isolation,
  JsonObject,
  Lifecycle,
  Line,
  LoopMode,
  Millis,
  PermissionMode,
  Raw,
  WorkflowFailure,
} from '../values.ts'

/** Which signal a derived state rests on, how old it is and how sure. */
const Evidence = z.strictObject({
  signal: Line,
  ageMs: Millis.optional(),
  confidence: z.enum(['high', 'medium', 'low']).optional(),
  detail: Line.optional(),
})

/** How the end of a session was guessed. */
export const Detection = z.strictObject({
  /** What decided: a completion phrase, a milestone, or silence beside other signs. */
  detector: z.enum(['phrase', 'milestone', 'idle']),
  confidence: z.enum(['high', 'medium', 'low']),
  /** From 0 to 100. */
  score: z.number().min(0).max(100),
  evidence: z.array(Evidence),
})
export type Detection = z.infer<typeof Detection>

/** A git work tree of its own, with its branch and the commit it began at. */
const Worktree = z.strictObject({ path: Line, branch: Line, base: Line })

/** The head of an imported or recorded collaboration; STD-008 calls it `collaboration`. */
export const Collaboration = z.strictObject({
  mode: z.enum(['single', 'multi_agent']),
  pattern: z.enum(['master_worker', 'peer_to_peer', 'pipeline', 'consensus']),
  orchestrator: Agent,
  participants: z.array(Agent),
  raw: Raw.optional(),
})

/** An analysis phase laid over a range of tool calls; it may span several sub-sessions. */
export const PhaseAnnotation = z.strictObject({
  annotationId: Line,
  phaseType: z.enum(['understand', 'explore', 'plan', 'execute', 'verify', 'mixed', 'unclassified']),
  startCallId: Line,
  endCallId: Line,
  annotatedBy: z.enum(['agent', 'human', 'auto']),
  annotatedAt: Line,
  confidence: z.enum(['high', 'medium', 'low']),
  description: Body.optional(),
  decisions: z.array(z.unknown()).optional(),
  contextUsed: z.array(z.unknown()).optional(),
  raw: Raw.optional(),
})

export const sessionEvents = {
  'session.started': event({
    about: 'A session begins.',
    reporter: 'operator',
    control: [
      'origin',
      'capabilitySnapshot',
      'workingDir',
      'friendlyName',
      'depth',
      'permissionMode',
      'tools',
      'policy',
      'workGlobs',
      'scope',
      'resultSchema',
      'lifecycleMode',
      'loop',
      'budget',
      'worktree',
      'isolation',
      'replayOf',
    ],
    opens: 'session',
    std008: 'the session',
    sm: {
      words: ['spawned'],
      says: () => ' started',
      metadata: ({ payload: p }) => ({ agent_type: p.agent?.agentType ?? null }),
    },
    title: ({ payload: p }) => [p.name, p.title ?? p.prompt ?? p.description],
    search: ({ payload: p }) => [p.name, p.title, p.prompt, p.description, p.workingDir, p.model],
    payload: z.strictObject({
      name: Line.optional(),
      title: Line.optional(),
      description: Body.optional(),
      prompt: Body.optional(),
      agent: Agent.optional(),
      model: Line.optional(),
      capabilitySnapshot: Line.optional(),
      cli: Line.optional(),
      workingDir: Line.optional(),
      parentSessionId: SessionId.optional(),
      collaboration: Collaboration.optional(),
      origin: z.enum(['managed', 'observed', 'runtime', 'workflow', 'imported']).optional(),
      /** What people call it; `name` is made from its type and id and never changes. */
      friendlyName: Line.optional(),
      /** Levels below its root session. */
      depth: Count.optional(),
      permissionMode: PermissionMode.optional(),
      /** The only tools it may use; a hard gate. */
      tools: z.array(Line).optional(),
      /** The only actions that its role may take, and the only files that it may change; hard gates too. */
      policy: z.array(Capability).optional(),
      workGlobs: z.array(Line).optional(),
      /** What of them its task may change. */
      scope: z.array(Line).optional(),
      /** What the answers of its agent are held to. */
      resultSchema: Line.optional(),
      lifecycleMode: z.enum(['auto', 'manual', 'supervised']).optional(),
      /** How a built-in agent works. */
      loop: LoopMode.optional(),
      budget: Budget.optional(),
      worktree: Worktree.optional(),
      /** The walls that it runs behind; nothing when there are none. */
      isolation: Isolation.exclude(['none']).optional(),
      /** The run that it goes on from in another way, and the turn from which on. */
      replayOf: z.strictObject({ runId: RunId, step: Count }).optional(),
      /** The id the session has in the file it was imported from. */
      foreignId: Line.optional(),
      raw: Raw.optional(),
    }),
  }),
  'session.launched': event({
    about: 'The program of a session runs in a terminal: the first time, or again after it was gone.',
    reporter: 'daemon',
    isLate: true,
    sm: { words: ['resumed'], says: ({ payload: p }) => p.isResumed && ` runs again in ${p.tmuxSession}` },
    title: ({ payload: p }) => [p.cli, p.cliVersion, 'in', p.tmuxSession, p.isResumed && '(resumed)'],
    payload: z.strictObject({
      /** Where the terminal is: the name of the tmux server's socket, and exact ids on it. */
      socket: Line,
      tmuxSession: Line,
      /** Which run of the tmux server: the next one uses the same ids for other terminals. */
      serverId: Line,
      terminalId: Line,
      paneId: Line,
      pid: Count,
      /** When the process with this pid started: the pid may belong to another one later. */
      pidStartedMs: Count.optional(),
      cli: Line,
      cliVersion: Line.optional(),
      program: Line,
      /** The name under which the vault keeps how it was started. */
      launch: Line.optional(),
      foreignId: Line.optional(),
      isResumed: z.boolean().optional(),
      /** All that it starts is in a control group, which nothing leaves by itself. */
      isGrouped: z.boolean().optional(),
      /** The first prompt was not given at the start; it is typed once the program is ready. */
      isPromptTyped: z.boolean().optional(),
    }),
  }),
  'session.updated': event({
    about:
      'What is known about a session changed: its name, task, parent, conversation or lock; null removes one.',
    reporter: 'daemon',
    isLate: true,
    title: ({ payload: { by: _by, ...p } }) =>
      Object.entries(p).map(
        ([name, value]) =>
          `${name}: ${typeof value === 'object' && value ? JSON.stringify(value) : (value ?? 'none')}`,
      ),
    search: ({ payload: p }) => [p.friendlyName, p.task],
    payload: z.strictObject({
      friendlyName: Line.optional(),
      task: Line.nullable().optional(),
      parentSessionId: SessionId.nullable().optional(),
      /** Levels below its root session, which change with the parent. */
      depth: Count.optional(),
      foreignId: Line.optional(),
      transcript: Line.optional(),
      /** Bytes of its record that were written before it was taken over; they are history. */
      recordFrom: Count.optional(),
      model: Line.optional(),
      cliVersion: Line.optional(),
      permissionMode: PermissionMode.optional(),
      loop: LoopMode.optional(),
      /** Who gets what people say to the session from now on. */
      agentType: Line.optional(),
      budget: Budget.optional(),
      /** Null once its work tree was removed. */
      worktree: Worktree.nullable().optional(),
      /** Why others should keep out of its workspace. */
      lock: Line.nullable().optional(),
      by: Line.optional(),
    }),
  }),
  'session.archived': event({
    about: 'A redacted copy of the transcript of a session was kept.',
    reporter: 'daemon',
    isLate: true,
    sm: { words: ['archived'], says: ({ payload: p }) => `: transcript kept in ${p.path}` },
    title: ({ payload: p }) => [p.path],
    payload: z.strictObject({ path: Line, files: Count, bytes: Count }),
  }),
  'limit.refused': event({
    about: 'Something was refused because it would have exceeded a limit.',
    reporter: 'daemon',
    sm: { words: ['refused'], says: ({ payload: p }) => `: ${p.what} (${p.current} of ${p.max})` },
    title: ({ payload: p }) => [p.what, p.limit, p.current, 'of', p.max],
    search: ({ payload: p }) => [p.what, p.limit],
    payload: z.strictObject({
      limit: Line,
      max: z.number(),
      current: z.number(),
      what: Line,
      by: Line.optional(),
    }),
  }),
  'session.completed': event({
    about: 'A session ended without an error.',
    reporter: 'operator',
    control: [],
    closes: 'session',
    std008: 'status, completed_at',
    sm: {
      words: ['completed', 'cancelled', 'killed', 'abandoned'],
      word: ({ payload: p }) => p.outcome,
      says: ({ payload: p }) => ` ${p.outcome}${quoted(p.message ?? p.reason)}`,
    },
    title: ({ payload: p }) => [p.outcome, p.reason ?? p.message],
    search: ({ payload: p }) => [p.message, p.reason],
    payload: z.strictObject({
      outcome: z.enum(['completed', 'cancelled', 'killed', 'abandoned']),
      message: Body.optional(),
      /** Set when nobody said so and it was guessed. */
      detected: Detection.optional(),
      durationMs: Millis.optional(),
      reason: Line.optional(),
      raw: Raw.optional(),
    }),
  }),
  'session.failed': event({
    about: 'A session ended with an error.',
    reporter: 'operator',
    control: [],
    closes: 'session',
    std008: 'status, completed_at',
    sm: {
      words: ['error'],
      says: ({ payload: p }) =>
        ` ${p.outcome === 'rejected' ? 'was rejected' : 'failed'}${quoted(p.message ?? p.error ?? p.reason)}`,
    },
    title: ({ payload: p }) => [p.error ?? p.reason ?? p.message],
    search: ({ payload: p }) => [p.message, p.error, p.reason],
    payload: z.strictObject({
      /** Of the session of a workflow. */
      outcome: WorkflowFailure.optional(),
      message: Body.optional(),
      error: Body.optional(),
      reason: Line.optional(),
      durationMs: Millis.optional(),
      raw: Raw.optional(),
    }),
  }),
  'session.reopened': event({
    about: 'A prompt was sent to a session that had ended and is still alive.',
    reporter: 'operator',
    control: [],
    opens: 'session',
    sm: { words: ['reopened'], says: () => ' goes on' },
    title: ({ payload: p }) => [p.by, p.reason],
    payload: z.strictObject({ by: Line.optional(), reason: Line.optional() }),
  }),
  'session.state.changed': event({
    about: 'The lifecycle or activity of a session moved, with the evidence for it.',
    reporter: 'operator',
    control: [],
    sm: {
      words: ['failed'],
      says: ({ payload: p }) =>
        p.to === 'failed' && p.from !== 'failed' && ` failed: ${p.detail ?? 'no reason given'}`,
    },
    title: ({ payload: p }) => [p.from, p.from && '→', p.to, p.activity, p.detail],
    payload: z.strictObject({
      from: Lifecycle.optional(),
      to: Lifecycle,
      activity: Activity.optional(),
      evidence: z.array(Evidence).optional(),
      detail: Line.optional(),
    }),
  }),
  'session.annotated': event({
    about: 'An analysis phase was assigned to a range of tool calls.',
    reporter: 'operator',
    control: [],
    isLate: true,
    std008: 'phase_annotations[]',
    title: ({ payload: p }) => [p.phaseType, p.description],
    search: ({ payload: p }) => [p.phaseType, p.description, p.decisions],
    payload: PhaseAnnotation,
  }),
  'signal.changed': event({
    about:
      'What is seen of a session (by a hook, a transcript, the pane, the process, or by the clock) changed its value, like how it fares; edges only, never samples.',
    reporter: 'daemon',
    sm: {
      words: ['health'],
      says: ({ payload: p }) => p.signal === 'health' && ` is ${p.to}${quoted(p.detail)}`,
    },
    title: ({ payload: p }) => [p.signal, '→', p.to, p.detail],
    payload: z.strictObject({
      signal: Line,
      from: Line.optional(),
      to: Line,
      source: z.enum(['hook', 'transcript', 'process', 'pane', 'explicit', 'clock']),
      detail: Line.optional(),
    }),
  }),
  'settings.updated': event({
    about: 'A setting of a project or of the fleet changed.',
    reporter: 'daemon',
    sse: ['SettingsUpdated'],
    title: ({ payload: p }) => [p.projectRoot, p.mode],
    payload: z.strictObject({
      projectRoot: Line.optional(),
      mode: LoopMode.optional(),
      settings: JsonObject.optional(),
    }),
  }),
}
