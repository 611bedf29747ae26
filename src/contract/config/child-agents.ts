import * as z from 'zod'

const Seconds = z.int().min(1).max(31_536_000)

const AutoComplete = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe('Look for signs that a session has finished. Manual mode never looks, whatever this says.'),
    idle_timeout: Seconds.default(600).describe(
      'Seconds without a tool call after which a session counts as idle.',
    ),
    idle_after: Seconds.default(60).describe(
      'Seconds of silence after the end of a turn before a session is called idle.',
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
  .describe('How the end of a session is noticed.')

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
      .describe('Variable with the key that each notice is signed with, in the header X-Muster-Signature.'),
    timeout: Seconds.max(300).default(10).describe('Seconds to wait for an answer.'),
    attempts: z
      .int()
      .min(1)
      .max(100)
      .default(12)
      .describe('How often one notice is tried, with pauses from a second to five minutes between.'),
  })
  .prefault({})
  .describe('An address outside that is told what becomes of sessions.')

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
      'Seconds after which a question of an agent that nobody answered is answered with no.',
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
        'auto notices a finished session by itself, manual leaves every end to the parent, supervised notices and then asks the parent.',
      ),
    auto_complete: AutoComplete,
    cleanup: Cleanup,
    notifications: Notifications,
    progress: Progress,
    approvals: Approvals,
  })
  .prefault({})
  .describe('The life of spawned sessions.')
