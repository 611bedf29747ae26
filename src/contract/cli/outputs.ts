import * as z from 'zod'
import type { CommandName } from '../cli.ts'
import { JournalStats } from '../health.ts'
import {
  DoctorReport,
  JournalVerification,
  LogConversion,
  LogValidation,
  RedactionReport,
} from '../offline.ts'
import { routes, WireEvent } from '../routes.ts'
import { AgentKind, Count } from '../values.ts'
import { sessionOutputs } from './session-outputs.ts'
import { talkOutputs } from './talk-outputs.ts'
import { workflowOutputs } from './workflow-outputs.ts'

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

/** What each command prints with `--json`: one value, or one per line where it streams. */
export const commandOutputs = {
  ...sessionOutputs,
  ...talkOutputs,
  ...workflowOutputs,
  watch: routes.listSessions.output,
  up: z.strictObject({
    url: z.string(),
    pid: z.int(),
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
  search: routes.search.output,
  hook: routes.runHook.output,
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
  'crews show': routes.getCrew.output,
  'crews check': z.strictObject({ crews: Count, ...checked }),
  models: routes.listModels.output,
  replay: routes.replayRun.output,
  'redact test': RedactionReport,
  completion: z.strictObject({ shell: z.string(), script: z.string() }),
  'journal verify': z.strictObject({
    ...JournalVerification.shape,
    /** With `--set-aside`: what was put aside before the check, and where the original is. */
    setAside: z.array(z.strictObject({ file: z.string(), lines: Count, original: z.string() })).optional(),
  }),
  'journal tail': WireEvent,
  'journal import': z.strictObject({
    appended: Count,
    duplicates: Count,
    rejected: z.array(z.strictObject({ line: z.int(), code: z.string(), message: z.string() })),
  }),
  'journal export': WireEvent,
  'journal stats': JournalStats,
  'journal rebuild-index': routes.rebuildIndex.output,
  'log validate': z.array(LogValidation),
  'log import': z.array(
    z.strictObject({
      file: z.string(),
      sessionId: z.string().optional(),
      shortId: z.string().optional(),
      events: Count,
      repairs: z.array(z.unknown()),
      duplicate: z.boolean(),
      /** Why the file was not taken. */
      refused: z.strictObject({ code: z.string(), message: z.string() }).optional(),
    }),
  ),
  'log export': z.strictObject({ ...routes.exportLog.output.shape, ...written }),
  'log migrate': z.strictObject({ ...LogConversion.shape, ...written }),
  'log repair': z.strictObject({ ...LogConversion.shape, ...written }),
} as const satisfies Record<CommandName, z.ZodType>

/** The data of a command. */
export type CommandOutput<N extends CommandName> = z.output<(typeof commandOutputs)[N]>
