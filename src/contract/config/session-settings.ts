import * as z from 'zod'
import { codingCliNames } from '../agent-clis.ts'
import { Isolation } from '../values.ts'
import { GivenName } from './names.ts'

const Seconds = z.int().min(1).max(31_536_000)

const AutoComplete = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe('Look for signs that a session has finished. Manual mode never does, whatever this says.'),
    idle_timeout: Seconds.default(600).describe(
      'Seconds without a tool call after which a session counts as idle.',
    ),
    idle_after: Seconds.default(60).describe(
      'Seconds of silence after the end of a turn before a session counts as idle.',
    ),
    detect_completion_phrases: z
      .boolean()
      .default(true)
      .describe("Take a completion phrase in an agent's last message as one sign that it has finished."),
    completion_patterns: z
      .array(z.string().min(1).max(200))
      .max(100)
      .default(['complete', 'done', 'finished', 'all tests pass'])
      .describe(
        'The completion phrases: plain words, matched without regard to case, not regular expressions.',
      ),
    require_parent_approval: z
      .boolean()
      .default(false)
      .describe('Ask the parent before a session that looks finished is ended. Supervised mode always asks.'),
  })
  .prefault({})
  .describe('How the end of a session is detected.')

const Cleanup = z
  .strictObject({
    auto_kill_on_complete: z
      .boolean()
      .default(false)
      .describe('End the process of a completed session instead of leaving it ready for another prompt.'),
    auto_archive_transcript: z
      .boolean()
      .default(true)
      .describe('Keep a redacted copy of the transcript when a session completes.'),
    archive_path: z
      .string()
      .min(1)
      .max(4096)
      .default('archives')
      .describe('Folder of the archived transcripts; a relative path starts at the state folder.'),
    close_tmux_session: z
      .boolean()
      .default(false)
      .describe('Close the terminal of a completed session as well; its screen is lost.'),
  })
  .prefault({})
  .describe('What happens to a session that has completed.')

const Webhook = z
  .strictObject({
    url: z
      .string()
      .max(2048)
      .regex(/^https?:\/\//, 'an address that begins with http:// or https://')
      .optional()
      .describe(
        'Address that changes of sessions are posted to as JSON; ${NAME} in it is a variable of the daemon, for a part that is secret.',
      ),
    secret_env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable')
      .optional()
      .describe('Variable with the key that signs each notification, in the header X-Muster-Signature.'),
    timeout: Seconds.max(300).default(10).describe('Seconds to wait for an answer.'),
    attempts: z
      .int()
      .min(1)
      .max(100)
      .default(12)
      .describe('Number of tries of one notification, with pauses of one second to five minutes.'),
  })
  .prefault({})
  .describe('An external address that is notified of what happens to sessions.')

const Notifications = z
  .strictObject({
    notify_parent_on_complete: z.boolean().default(true).describe('Tell the parent that a child completed.'),
    notify_parent_on_error: z.boolean().default(true).describe('Tell the parent that a child failed.'),
    notify_parent_on_idle: z.boolean().default(true).describe('Tell the parent that a child went idle.'),
    notify_parent_on_checkpoint: z
      .boolean()
      .default(false)
      .describe('Tell the parent about every milestone of a child.'),
    webhook: Webhook,
  })
  .prefault({})
  .describe('Which changes of a child are sent to its parent.')

const Progress = z
  .strictObject({
    enable_token_tracking: z.boolean().default(true).describe('Count the tokens of each session.'),
    enable_tool_tracking: z.boolean().default(true).describe('Count the tool calls of each session.'),
    snapshot_interval: Seconds.default(30).describe('Seconds between two progress snapshots of a session.'),
  })
  .prefault({})
  .describe('What is measured while a session runs.')

const Approvals = z
  .strictObject({
    timeout: Seconds.default(86_400).describe(
      'Seconds after which an unanswered question of an agent is answered with no.',
    ),
  })
  .prefault({})
  .describe('Questions of agents that wait for a decision.')

/** The life of spawned sessions. */
export const ChildAgentsConfig = z
  .strictObject({
    mode: z
      .enum(['auto', 'manual', 'supervised'])
      .default('auto')
      .describe(
        'auto detects a finished session by itself, manual leaves every end to the parent, supervised detects it and then asks the parent.',
      ),
    auto_complete: AutoComplete,
    cleanup: Cleanup,
    notifications: Notifications,
    progress: Progress,
    approvals: Approvals,
  })
  .prefault({})
  .describe('The life of spawned sessions.')

const placeholders = ['agent_type', 'friendly_name', 'short_id']

const NamePattern = z
  .string()
  .min(1)
  .max(200)
  .refine(
    (text) => [...text.matchAll(/\{([^{}]*)\}/g)].every((found) => placeholders.includes(found[1] ?? '')),
    `a placeholder is one of ${placeholders.map((name) => `{${name}}`).join(', ')}`,
  )
  .refine(
    (text) => /^[A-Za-z0-9_-]*$/.test(text.replaceAll(/\{[^{}]*\}/g, '')),
    'outside its placeholders a name pattern has only letters, digits, - and _',
  )

/** What a new session inherits and how it is named. */
export const SessionsConfig = z
  .strictObject({
    default_working_dir_behavior: z
      .enum(['inherit', 'specify'])
      .default('inherit')
      .describe(
        'inherit starts a child in the folder of its parent; specify refuses a spawn without a folder.',
      ),
    inherit_environment_vars: z
      .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable'))
      .max(256)
      .default(['SSH_AUTH_SOCK', 'PATH'])
      .describe('Environment variables that a new session inherits; all others are left out.'),
    observe: z
      .boolean()
      .default(true)
      .describe('Show sessions of coding agents that were started outside Muster; Muster only watches them.'),
    auto_restore: z
      .boolean()
      .default(true)
      .describe(
        'Restore sessions automatically after the daemon, tmux or the machine went down; otherwise sm restore does it.',
      ),
    isolation: Isolation.default('none').describe(
      'none runs sessions like any of your programs; bwrap runs them in a sandbox, where they write only to their working folder and see no other session.',
    ),
    isolation_writable: z
      .array(z.string().regex(/^(?:\/|~\/)./, 'a full path, or one that begins with ~/'))
      .max(64)
      .default([])
      .describe(
        'Folders and files that isolated sessions may write to in addition to their working folder, such as caches.',
      ),
    naming: z
      .strictObject({
        pattern: NamePattern.default('{agent_type}-{friendly_name}').describe(
          'Name of a session that was given a friendly name.',
        ),
        fallback: NamePattern.default('{agent_type}-{short_id}').describe(
          'Name of a session without a friendly name.',
        ),
      })
      .prefault({})
      .describe('How sessions are named.'),
  })
  .prefault({})
  .describe('What a new session inherits and how it is named.')

const Args = z.array(z.string().min(1).max(4096)).max(64)
const Model = z.string().min(1).max(200)

const Program = z
  .string()
  .min(1)
  .max(4096)
  // A shell line would be looked up as one file name and fail at every spawn.
  .refine((text) => !/\s-|[\n;|&`]/.test(text), 'only the program; its arguments belong in default_args')

const AgentConfig = z.strictObject({
  model: Model.optional().describe(
    'Model for this agent type; the agent file decides when it is left out. A model named at spawn wins.',
  ),
  args: Args.optional().describe(
    'Arguments for this agent type instead of default_args; an empty list means none.',
  ),
  cli: GivenName.optional().describe(
    'Coding agent that runs this type, or the name of a program in clis; claude when left out.',
  ),
})

const Preset = z.strictObject({
  model: Model.optional().describe('Model of the preset; it wins over the agent type.'),
  args: Args.optional().describe('Arguments of the preset, instead of those of the agent type.'),
})

/** How coding agents are launched. */
export const ClaudeConfig = z
  .strictObject({
    default_command: Program.default('claude').describe(
      'Program that starts Claude Code: a name on the PATH or a full path, never a shell line.',
    ),
    default_args: Args.default([]).describe(
      'Arguments of every launch whose agent type sets none. Empty means that Claude Code asks before it acts.',
    ),
    agent_configs: z
      .record(GivenName, AgentConfig)
      .default({})
      .describe('Settings per agent type. Names are case-insensitive and kept in lower case.'),
    presets: z
      .record(GivenName, Preset)
      .default({})
      .describe('Named bundles of model and arguments for `sm spawn --preset`.'),
  })
  .prefault({})
  .describe('How coding agents are launched.')

/** How a coding agent other than Claude Code is launched; a name that is none of the known ones is a program of the user's own. */
const CliProgram = z.strictObject({
  command: z
    .string()
    .min(1)
    .max(4096)
    .describe('Program: a name on the PATH or a full path, never a shell line.'),
  args: z.array(z.string().min(1).max(4096)).max(64).default([]).describe('Arguments of every launch.'),
  prompt: z
    .enum(['argument', 'typed'])
    .default('typed')
    .describe('How the first prompt reaches a program of your own: as its last argument, or typed into it.'),
})

/** Claude Code has a section of its own. */
const known = codingCliNames.filter((name) => name !== 'claude')

/** Programs of coding agents, by name. */
export const ClisConfig = z
  .record(GivenName, CliProgram)
  .default({})
  .describe(
    `Programs of coding agents by name: ${known.slice(0, -1).join(', ')} and ${known.at(-1)} are known; any other name is an agent of your own for \`sm spawn <name>\`.`,
  )

/** How far the session tree may grow. */
export const LimitsConfig = z
  .strictObject({
    max_depth: z.int().min(0).max(64).default(4).describe('Levels of sessions below a root session.'),
    max_children: z.int().min(0).max(10_000).default(16).describe('Live children of one session.'),
    max_descendants: z
      .int()
      .min(0)
      .max(100_000)
      .default(64)
      .describe('Sessions ever started below one root session, all levels together.'),
    max_sessions: z.int().min(1).max(10_000).default(200).describe('Maximum sessions running at a time.'),
    spawns_per_minute: z.int().min(1).max(100_000).default(60).describe('Sessions started within a minute.'),
  })
  .prefault({})
  .describe('How far the session tree may grow; a spawn over a limit is refused.')
