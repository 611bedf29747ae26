import * as z from 'zod'
import { Check, type JournalStats } from './health.ts'
import { Count } from './values.ts'

/** What `sm journal verify` found: the first line that is not as it was written, or nothing. */
export const JournalVerification = z.strictObject({
  ok: z.boolean(),
  segments: Count,
  events: Count,
  seq: Count,
  bytes: Count,
  fault: z
    .strictObject({
      file: z.string(),
      line: z.int().positive(),
      seq: Count.optional(),
      problem: z.string(),
    })
    .optional(),
  warnings: z.array(z.string()),
})
export type JournalVerification = z.infer<typeof JournalVerification>

/** A remark about one place of a session file, by its path like `messages[3].payload`. */
export const LogRemark = z.strictObject({ path: z.string(), message: z.string() })
export type LogRemark = z.infer<typeof LogRemark>

/** What `sm log validate` says of one file. */
export const LogValidation = z.strictObject({
  file: z.string(),
  format: z.string(),
  valid: z.boolean(),
  errors: z.array(LogRemark),
  warnings: z.array(LogRemark),
})
export type LogValidation = z.infer<typeof LogValidation>

/** A session file in the present format, and what had to be changed for it. */
export const LogConversion = z.strictObject({
  file: z.string(),
  format: z.string(),
  /** The strict document, ready to be written. */
  document: z.unknown(),
  repairs: z.array(LogRemark),
})
export type LogConversion = z.infer<typeof LogConversion>

/** What redaction would do to a text. */
export const RedactionReport = z.strictObject({
  redacted: z.string(),
  findings: z.array(z.strictObject({ rule: z.string(), line: z.int().positive(), column: z.int().positive() })),
})
export type RedactionReport = z.infer<typeof RedactionReport>

/** The settings in force, each with the place it was written at. */
export const ConfigReport = z.strictObject({
  files: z.array(z.string()),
  values: z.array(
    z.strictObject({
      key: z.string(),
      value: z.unknown(),
      origin: z.union([z.literal('default'), z.strictObject({ file: z.string(), line: z.int().positive() })]),
    }),
  ),
  warnings: z.array(z.string()),
})
export type ConfigReport = z.infer<typeof ConfigReport>

/** One agent definition as it was found. */
export const AgentSummary = z.strictObject({
  name: z.string(),
  description: z.string(),
  kind: z.enum(['main', 'subagent']),
  source: z.enum(['project', 'user', 'shipped']),
  file: z.string(),
  model: z.string().optional(),
  tools: z.array(z.string()).optional(),
  policy: z.unknown().optional(),
  aliases: z.array(z.string()),
  prompt: z.string(),
})
export type AgentSummary = z.infer<typeof AgentSummary>

/** Every agent definition that loads, and what is wrong with the others. */
export const AgentsReport = z.strictObject({
  agents: z.array(AgentSummary),
  problems: z.array(
    z.strictObject({
      file: z.string(),
      line: z.int().positive().optional(),
      /** A skipped definition is an error; the rest loads with a warning. */
      severity: z.enum(['error', 'warning']),
      message: z.string(),
    }),
  ),
})
export type AgentsReport = z.infer<typeof AgentsReport>

/** What `sm doctor` found. */
export const DoctorReport = z.strictObject({ daemon: z.enum(['running', 'stopped', 'slow']), checks: z.array(Check) })
export type DoctorReport = z.infer<typeof DoctorReport>

/** The surroundings in which an offline command works. */
export type OfflinePlace = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The user's home folder. */
  readonly home: string
}

/** Which events an export takes. */
export type ExportFilter = {
  readonly after: number
  readonly types: readonly string[]
  readonly session: string | undefined
}

/** What must work without a daemon; the daemon's offline entry provides it, `sm` loads it when needed. */
export type Offline = {
  journalVerify(onProgress: (events: number) => void, signal: AbortSignal): Promise<JournalVerification>
  /** The chosen events as they stand in the journal, one line each. */
  journalExport(filter: ExportFilter, signal: AbortSignal): AsyncIterable<string>
  journalStats(signal: AbortSignal): Promise<JournalStats>
  logValidate(file: string, signal: AbortSignal): Promise<LogValidation>
  logMigrate(file: string, signal: AbortSignal): Promise<LogConversion>
  logRepair(file: string, signal: AbortSignal): Promise<LogConversion>
  redactTest(text: string, signal: AbortSignal): Promise<RedactionReport>
  configShow(): Promise<ConfigReport>
  agentsLoad(): Promise<AgentsReport>
  doctor(signal: AbortSignal): Promise<readonly Check[]>
}

/** What the offline entry exports. */
export type OpenOffline = (place: OfflinePlace) => Offline
