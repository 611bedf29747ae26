import * as z from 'zod'
import { type CommandName, commandEntries, type commands } from '../cli.ts'
import {
  DoctorReport,
  JournalVerification,
  LogConversion,
  LogValidation,
  RedactionReport,
} from '../offline.ts'
import { TrustView } from '../project-trust.ts'
import { type JsonRouteName, routes, WireEvent } from '../routes.ts'
import { SessionDetail, SessionView, SpawnedView, SuspectView } from '../session-views.ts'
import { AgentKind, Count, Tokens } from '../values.ts'

/** Why a file was not taken, where others were. */
const Refused = z.strictObject({ code: z.string(), message: z.string() })

const AgentCard = z.strictObject({
  name: z.string(),
  aliases: z.array(z.string()),
  description: z.string(),
  kind: AgentKind,
  source: z.enum(['project', 'user', 'shipped']),
  file: z.string(),
  model: z.string().optional(),
  tools: z.array(z.string()),
  policy: z.strictObject({
    allow: z.array(z.string()),
    delegateTargets: z.union([z.literal('any'), z.array(z.string())]),
  }),
})

/** What is wrong with the files of definitions, and which are hidden by others. */
const checked = {
  problems: z.array(
    z.strictObject({
      file: z.string(),
      line: z.int(),
      severity: z.enum(['error', 'warning']),
      message: z.string(),
    }),
  ),
  shadowed: z.array(z.strictObject({ name: z.string(), file: z.string(), by: z.string() })),
}

/** The file that a document was written to; absent when it was printed. */
const written = { written: z.string().optional() }

/** An answer of a built-in agent, and what it took. */
const Answer = z.strictObject({
  session_id: z.string(),
  run_id: z.string().nullable(),
  agent: z.string(),
  status: z.enum(['completed', 'failed', 'cancelled', 'timeout']),
  /** Its last words; the reason when there are none. */
  text: z.string(),
  /** The packet that it was finished with, if it was. */
  output: z.unknown(),
  usage: Tokens.nullable(),
  tools: z.array(
    z.strictObject({
      agent: z.string(),
      tool: z.string(),
      target: z.string().nullable(),
      status: z.enum(['running', 'completed', 'failed', 'denied']),
      duration_ms: z.number().nullable(),
      reason: z.string().nullable(),
    }),
  ),
  duration_ms: Count,
})
export type Answer = z.infer<typeof Answer>

const Others = z.strictObject({ sessions: z.array(SessionView) })

/** The schemas of what no route answers. */
const ownOutputs = {
  /** With `--wait` a second value follows: the session as it ended. */
  spawn: z.union([SpawnedView, SessionDetail]),
  status: z.strictObject({
    session: SessionView.nullable(),
    children: z.array(SessionView),
    working_dir: z.string(),
    others: z.array(SessionView),
  }),
  events: routes.listSessionEvents.output.shape.events.element,
  who: Others,
  others: Others,
  alone: z.strictObject({ alone: z.boolean() }),
  ask: Answer,
  /** One for each line of standard input. */
  chat: Answer,
  demo: z.strictObject({
    /** False when it was not the first time; then there is nothing else. */
    played: z.boolean(),
    session_id: z.string().nullable(),
    session_file: z.string().nullable(),
    workflow_id: z.string().nullable(),
    branch: z.string().nullable(),
    repo: z.string(),
    verdict: z.string().nullable(),
    rounds: z.int().nullable(),
    /** What is left for a person to decide. */
    approval_id: z.string().nullable(),
  }),
  up: z.strictObject({
    url: z.string(),
    /** Left out by a daemon that does not know our token. */
    pid: z.int().optional(),
    version: z.string(),
    home: z.string(),
    /** False when it was running already. */
    started: z.boolean(),
    /** Over SSH: the line that brings the page to the other end. */
    forward: z.string().optional(),
  }),
  down: z.strictObject({
    /** False when none was running. */
    stopped: z.boolean(),
    /** Sessions that were ended with it. */
    killed: z.int().nonnegative(),
    /** Processes that may be of one of them, and were not ended. */
    suspects: z.array(SuspectView),
  }),
  open: z.strictObject({ url: z.string(), opened: z.boolean(), forward: z.string().optional() }),
  doctor: DoctorReport,
  version: z.strictObject({
    version: z.string(),
    wire: z.int(),
    node: z.string(),
    platform: z.string(),
    entry: z.string(),
  }),
  'service install': z.strictObject({ unit: z.string() }),
  'service uninstall': z.strictObject({ unit: z.string() }),
  'config show': z.strictObject({
    files: z.array(z.string()),
    values: z.array(
      z.strictObject({
        key: z.string(),
        value: z.unknown(),
        origin: z.union([z.literal('default'), z.strictObject({ file: z.string(), line: z.int() })]),
      }),
    ),
    warnings: z.array(z.string()),
  }),
  /** The project that was named; all that are trusted with `--list`. */
  trust: z.strictObject({ projects: z.array(TrustView) }),
  'agents list': z.array(AgentCard),
  'agents show': z.strictObject({ ...AgentCard.shape, prompt: z.string() }),
  'agents check': z.strictObject({ agents: Count, ...checked }),
  'agents new': z.strictObject({
    name: z.string(),
    kind: AgentKind,
    source: z.enum(['project', 'user']),
    file: z.string(),
  }),
  'crews list': routes.listCrews.output.shape.crews,
  'crews check': z.strictObject({ crews: Count, ...checked }),
  'redact test': RedactionReport,
  completion: z.strictObject({ shell: z.string(), script: z.string() }),
  'journal verify': z.strictObject({
    ...JournalVerification.shape,
    /** With `--set-aside`: what was put aside before the check, and where the original is. */
    setAside: z
      .array(z.strictObject({ file: z.string(), lines: Count, lost: Count, original: z.string().optional() }))
      .optional(),
  }),
  'journal tail': WireEvent,
  'journal import': z.strictObject({
    appended: Count,
    duplicates: Count,
    rejected: z.array(z.strictObject({ line: z.int(), code: z.string(), message: z.string() })),
  }),
  'journal export': WireEvent,
  'log validate': z.array(z.strictObject({ ...LogValidation.shape, refused: Refused.optional() })),
  'log import': z.array(
    z.strictObject({
      file: z.string(),
      sessionId: z.string().optional(),
      shortId: z.string().optional(),
      events: Count,
      repairs: z.array(z.unknown()),
      duplicate: z.boolean(),
      refused: Refused.optional(),
    }),
  ),
  'log export': z.strictObject({ ...routes.exportLog.output.shape, ...written }),
  'log migrate': z.strictObject({ ...LogConversion.shape, ...written }),
  'log repair': z.strictObject({ ...LogConversion.shape, ...written }),
} as const satisfies Record<OwnName, z.ZodType>

/** What each command prints with `--json`: one value, or one per line where it streams. */
export const commandOutputs = Object.fromEntries(
  commandEntries.map(([name, { answers }]) => [
    name,
    answers === undefined ? ownOutputs[name as OwnName] : routes[answers].output,
  ]),
) as { readonly [N in CommandName]: OutputSchema<N> }

/** The data of a command. */
export type CommandOutput<N extends CommandName> = z.output<OutputSchema<N>>

type OutputSchema<N extends CommandName> = (typeof commands)[N] extends {
  readonly answers: infer R extends JsonRouteName
}
  ? (typeof routes)[R]['output']
  : N extends OwnName
    ? (typeof ownOutputs)[N]
    : never

/** The commands that print something no route answers. */
type OwnName = {
  [N in CommandName]: (typeof commands)[N] extends { readonly answers: JsonRouteName } ? never : N
}[CommandName]
