import * as z from 'zod'
import type { LoadedAgents } from './agent-definition.ts'
import type { LoadedConfig } from './config.ts'
import type { Crew } from './crew.ts'
import type { LoadedCrews } from './crew-definition.ts'
import { Check, type JournalStats } from './health.ts'
import { ValidationResult } from './session-file/issue.ts'
import { Count } from './values.ts'

/** What `sm journal verify` found: each place that is not as it was written. */
export const JournalVerification = z.strictObject({
  ok: z.boolean(),
  segments: Count,
  events: Count,
  bytes: Count,
  /** Long texts that were read and compared with their digests. */
  blobs: Count,
  damage: z.array(
    z.strictObject({
      file: z.string(),
      /** Missing for a pack, which has no lines, and for a file that is gone. */
      line: z.int().positive().optional(),
      offset: Count,
      /** The event at which it was noticed. */
      seq: Count.optional(),
      reason: z.string(),
    }),
  ),
  /** Bytes after the last whole batch; the next start of the daemon sets them aside. */
  unfinished: z.strictObject({ file: z.string(), bytes: Count, reason: z.string() }).optional(),
})
export type JournalVerification = z.infer<typeof JournalVerification>

/** What `sm log validate` says of one file. */
export const LogValidation = z.strictObject({ file: z.string(), ...ValidationResult.shape })
export type LogValidation = z.infer<typeof LogValidation>

/** A session file in the present format, and what had to be changed for it. */
export const LogConversion = z.strictObject({
  file: z.string(),
  /** The strict document, ready to be written. */
  document: z.unknown(),
  repairs: z.array(z.strictObject({ path: z.string(), message: z.string() })),
})
export type LogConversion = z.infer<typeof LogConversion>

/** What redaction would do to a text. */
export const RedactionReport = z.strictObject({
  redacted: z.string(),
  findings: z.array(
    z.strictObject({ rule: z.string(), line: z.int().positive(), column: z.int().positive() }),
  ),
})
export type RedactionReport = z.infer<typeof RedactionReport>

/** What `sm doctor` found. */
export const DoctorReport = z.strictObject({
  daemon: z.enum(['running', 'stopped', 'slow']),
  checks: z.array(Check),
})
export type DoctorReport = z.infer<typeof DoctorReport>

/** The surroundings in which an offline command works. */
export type OfflinePlace = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The user's home folder. */
  readonly home: string
}

/** What `sm agents new` is to make. */
export type AgentRequest = {
  readonly name: string
  /** That of the original, or else main. */
  readonly kind: 'main' | 'subagent' | undefined
  /** Into the folder of the user instead of the project's. */
  readonly isUser: boolean
  readonly from: string | undefined
}

/** An agent file that was written. */
export type WrittenAgent = {
  readonly name: string
  readonly kind: 'main' | 'subagent'
  readonly source: 'project' | 'user'
  readonly file: string
}

/** Which events an export takes. */
export type ExportFilter = {
  readonly after: number
  readonly types: readonly string[]
  readonly session: string | undefined
}

/** What must work without a daemon; the daemon's offline entry provides it, `sm` loads it when needed. */
export type Offline = {
  journalVerify(onProgress: (bytes: number) => void, signal: AbortSignal): Promise<JournalVerification>
  /** Puts a tombstone in the place of each damaged line, and a line in the place of lost events; damaged files are kept aside. */
  journalSetAside(): Promise<readonly { file: string; lines: number; lost: number; original?: string }[]>
  /** The chosen events as they stand in the journal, one line each. */
  journalExport(filter: ExportFilter, signal: AbortSignal): AsyncIterable<string>
  journalStats(signal: AbortSignal): Promise<JournalStats>
  /** The JSON of a session file; one that is too large, too deep or no JSON is refused by name. */
  logRead(file: string, signal: AbortSignal): Promise<unknown>
  logValidate(file: string, signal: AbortSignal): Promise<LogValidation>
  logMigrate(file: string, signal: AbortSignal): Promise<LogConversion>
  logRepair(file: string, signal: AbortSignal): Promise<LogConversion>
  redactTest(text: string, signal: AbortSignal): Promise<RedactionReport>
  configShow(signal: AbortSignal): Promise<LoadedConfig>
  agentsLoad(signal: AbortSignal): Promise<LoadedAgents>
  crewsLoad(signal: AbortSignal): Promise<LoadedCrews<Crew>>
  /** Writes a new agent file; one that is there already is never touched. */
  agentsNew(request: AgentRequest, signal: AbortSignal): Promise<WrittenAgent>
  doctor(signal: AbortSignal): Promise<readonly Check[]>
}

/** What the offline entry exports. */
export type OpenOffline = (place: OfflinePlace) => Offline
