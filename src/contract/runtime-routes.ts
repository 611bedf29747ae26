import * as z from 'zod'
import { RunId } from './ids.ts'
import { route } from './route.ts'
import { places } from './route-places.ts'
import { SessionRef } from './session-routes.ts'
import { MessageView } from './session-views.ts'
import { AgentKind, Count, LoopMode } from './values.ts'

const Path = z.string().min(1).max(4096)
/** Seconds since 1970, with milliseconds behind the point. */
const Seconds = z.number()

/** One execution of an agent, under the names of the runtime contract. */
export const AgentRunRecord = z.strictObject({
  run_id: RunId,
  repo_path: z.string(),
  session_id: z.string(),
  agent_id: z.string(),
  agent_kind: AgentKind,
  parent_run_id: RunId.optional(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  detail: z.string().optional(),
  started_at: Seconds,
  ended_at: Seconds.optional(),
})
export type AgentRunRecord = z.infer<typeof AgentRunRecord>

/** Something that was said in a run. */
const ContextMessage = z.strictObject({
  role: z.enum(['user', 'agent', 'system']),
  from: z.string(),
  to: z.string(),
  content: z.string(),
  timestamp: z.string(),
})

/** What a run was about: who said how much, and on request what was said, called and made. */
export const AgentContext = z.strictObject({
  run: AgentRunRecord,
  summary: z.strictObject({
    message_count: Count,
    user_messages: Count,
    agent_messages: Count,
    system_messages: Count,
    started_at: Seconds,
    ended_at: Seconds.optional(),
  }),
  messages: z.array(ContextMessage).optional(),
  tools: z
    .array(
      z.strictObject({
        call_id: z.string(),
        tool: z.string(),
        status: z.enum(['running', 'completed', 'failed', 'denied']),
        detail: z.string().optional(),
        started_at: z.string(),
        duration_ms: z.number().optional(),
      }),
    )
    .optional(),
  artifacts: z
    .array(
      z.strictObject({
        kind: z.enum(['file', 'plan', 'packet', 'blackboard']),
        name: z.string(),
        detail: z.string().optional(),
        timestamp: z.string(),
      }),
    )
    .optional(),
})
export type AgentContext = z.infer<typeof AgentContext>

/** A folder or file that running agents are touching. */
export type TreeNode = {
  type: 'dir' | 'file'
  path: string
  agent?: string | undefined
  status?: 'working' | undefined
  last_modified?: number | undefined
  children?: TreeNode[] | undefined
}
/** Folders hold nodes of the same kind, however deep. */
const TreeNode = z.strictObject({
  type: z.enum(['dir', 'file']),
  path: z.string(),
  agent: z.string().optional(),
  status: z.literal('working').optional(),
  last_modified: Seconds.optional(),
  children: z.array(z.looseObject({ type: z.enum(['dir', 'file']), path: z.string() })).optional(),
})

const Settings = z.strictObject({ project_root: z.string(), mode: LoopMode })

/** An item of shared state. */
const BoardItemView = z.strictObject({
  id: z.string(),
  type: z.string(),
  content: z.unknown(),
  source: z.string(),
  confidence: z.number().nullable(),
  expires_at: z.string().nullable(),
  version: Count,
  updated_at: z.string(),
  conflicts: Count,
})
export type BoardItemView = z.infer<typeof BoardItemView>

/** A run that was run again from its record. */
const ReplayedRun = z.strictObject({
  run_id: RunId,
  parent_run_id: RunId.optional(),
  agent_id: z.string(),
  /** Every turn of the model, and the tools that it called. */
  steps: z.array(z.strictObject({ step: Count, seq: Count, calls: z.array(z.string()) })),
  recorded_end: z.string(),
  /** What the loop came to; `cut off` where the record ends before it. */
  replayed_end: z.enum(['completed', 'failed', 'cut off']),
  differences: z.array(
    z.strictObject({
      step: Count,
      what: z.enum(['agent', 'conversation', 'answer', 'gate', 'end']),
      detail: z.string(),
    }),
  ),
})

/** What came of a replay: runs that were compared, or a session that goes on in another way. */
export const ReplayView = z.strictObject({
  verdict: z.enum(['exact', 'different', 'inexact', 'branched']),
  runs: z.array(ReplayedRun),
  session_id: z.string().optional(),
  step: Count.optional(),
})
export type ReplayView = z.infer<typeof ReplayView>

/** The routes of built-in agents, as their contract writes them. */
export const runtimeRoutes = {
  listAgentRuns: route({
    ...places.listAgentRuns,
    access: 'session',
    input: z.strictObject({
      project_root: Path.optional(),
      session_id: SessionRef.optional(),
      limit: z.coerce.number<number>().int().min(1).max(1000).default(100),
    }),
    output: z.array(AgentRunRecord),
    summary: 'Runs of built-in agents and of CLIs, newest first',
  }),
  listAgentChildren: route({
    ...places.listAgentChildren,
    access: 'session',
    input: z.strictObject({ run_id: RunId }),
    output: z.array(AgentRunRecord),
    summary: 'The runs that work for a run, oldest first',
  }),
  getAgentContext: route({
    ...places.getAgentContext,
    access: 'session',
    input: z.strictObject({
      run_id: RunId,
      view: z.enum(['summary', 'raw']).default('summary'),
      slice: z.enum(['messages', 'tools', 'artifacts']).optional(),
    }),
    output: AgentContext,
    summary: 'What a run was about; raw adds the full conversation, a slice only one part of it',
  }),
  cancelAgent: route({
    ...places.cancelAgent,
    access: 'session',
    input: z.strictObject({ run_id: RunId }),
    output: z.strictObject({ cancelled_run_ids: z.array(RunId) }),
    summary: 'End a run and all runs that work for it',
  }),
  replayRun: route({
    ...places.replayRun,
    access: 'operate',
    input: z.strictObject({
      /** A run, or a session whose last run is meant. */
      id: z.string().min(1).max(200),
      /** The step, or the seq of an event, from which on a model is really asked. */
      from: z.int().min(1).optional(),
      model: z.string().min(1).max(200).optional(),
      prompt: z
        .string()
        .min(1)
        .max(1024 * 1024)
        .optional(),
      /** Whether tools are really run from there on; else the record answers, or nothing does. */
      run_tools: z.boolean().default(false),
      /** Whether what the journal shows will do where the texts themselves are gone. */
      inexact: z.boolean().default(false),
    }),
    output: ReplayView,
    summary: 'Replay a run from its record and compare, or branch off at one of its steps',
    maxBodyBytes: 2 * 1024 * 1024,
  }),
  chat: route({
    ...places.chat,
    access: 'session',
    input: z.strictObject({
      project_root: Path,
      /** The main agent that is spoken to; the one of the session when it is left out. */
      agent_id: z.string().min(1).max(64).optional(),
      message: z
        .string()
        .min(1)
        .max(1024 * 1024),
      session_id: SessionRef.optional(),
      /** For a new session: how its agent works, and with which model. */
      mode: LoopMode.optional(),
      model: z.string().max(200).optional(),
      name: z.string().max(64).optional(),
      /** Whether it may wait for the agent to be idle, comes at its next step, or interrupts it. */
      delivery: z.enum(['sequential', 'important', 'urgent']).default('sequential'),
    }),
    output: z.strictObject({
      status: z.enum(['started', 'queued', 'mode_set']),
      session_id: z.string(),
      agent_id: z.string(),
      message_id: z.string().optional(),
      mode: LoopMode.optional(),
    }),
    summary:
      'Send a message to a main agent; `@name …` addresses another one, `/mode chat|auto` changes how it works',
    maxBodyBytes: 2 * 1024 * 1024,
  }),
  getSettings: route({
    ...places.getSettings,
    access: 'session',
    input: z.strictObject({ project_root: Path }),
    output: Settings,
    summary: 'How agents work in a project',
  }),
  setSettings: route({
    ...places.setSettings,
    access: 'operate',
    input: z.strictObject({ project_root: Path, mode: LoopMode }),
    output: Settings,
    summary: 'Set how agents work in a project',
  }),
  getWorkspaceTree: route({
    ...places.getWorkspaceTree,
    access: 'session',
    input: z.strictObject({ project_root: Path }),
    output: TreeNode,
    summary: 'The files that running agents are touching, by agent',
  }),
  dismissMessage: route({
    ...places.dismissMessage,
    access: 'session',
    input: z.strictObject({ message: z.string().min(1).max(200) }),
    output: MessageView,
    summary: 'Withdraw a message that is still queued',
  }),
  getBlackboard: route({
    ...places.getBlackboard,
    access: 'session',
    input: z.strictObject({ id: SessionRef }),
    output: z.strictObject({ items: z.array(BoardItemView) }),
    summary: 'What the agents of a session share',
  }),
} as const
