import type { AgentCliName } from '../contract/config/names.ts'
import type { Dialect } from '../contract/dialect.ts'
import type { PermissionMode } from '../contract/values.ts'
import type { ConfigHome } from './isolation.ts'

/** Everything that decides how a CLI is started. */
export type LaunchRequest = {
  /** The program as configured: a name on the PATH or a full path. */
  readonly command: string
  /** Arguments the user configured; they come last but before the prompt. */
  readonly args: readonly string[]
  readonly version: string
  readonly workingDir: string
  readonly name: string
  readonly permissionMode: PermissionMode
  readonly prompt?: string
  /** How the prompt reaches a program of the user's own; the known ones decide it themselves. */
  readonly promptBy?: 'argument' | 'typed'
  readonly model?: string
  /** The id of the CLI's own conversation: a new one to use, or the one to go on with. */
  readonly foreignId?: string
  readonly resume: boolean
  /** Text that is added to the system prompt, and the only tools that may run; nothing limits nothing. */
  readonly role?: { readonly text: string; readonly tools?: readonly string[] }
  /** A private folder (0700) for settings, hooks and scripts of this session. */
  readonly folder: string
  /** The daemon's address for hooks over HTTP, and the argv that runs a hook as a command. */
  readonly hookUrl: string
  readonly hookCommand: readonly string[]
  /** The environment of the pane, which adapters may look into but not change. */
  readonly env: Readonly<Record<string, string>>
}

/** How to start it: written files first, then the program. */
export type LaunchPlan = {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly files: readonly { readonly path: string; readonly text: string; readonly mode: number }[]
  /** Whether the prompt is in argv, or must be typed once the CLI is ready. */
  readonly isPromptGiven: boolean
  readonly foreignId?: string
  /** Its own folders, as a session behind walls may have them; nothing when it is not known how it works there. */
  readonly homes?: readonly ConfigHome[]
}

/** A file that a CLI writes its conversation to. */
export type TranscriptFile = { readonly path: string; readonly agent?: string; readonly agentType?: string }

/** Where a conversation is. */
export type Conversation = {
  readonly workingDir: string
  readonly foreignId?: string
  /** The path as the CLI itself told it. */
  readonly transcript?: string
  readonly env: Readonly<Record<string, string>>
  readonly startedAtMs: number
}

/** Whether the CLI can work, as the CLI itself says. */
export type LoginState = { readonly state: 'in' | 'out' | 'unknown'; readonly detail: string }

/** A conversation found on this machine that Muster did not start. */
export type ForeignSession = {
  readonly cli: AgentCliName
  readonly foreignId: string
  readonly workingDir: string
  readonly transcript?: string
  readonly pid?: number
  readonly status?: 'idle' | 'busy' | 'waiting'
  readonly title?: string
  readonly lastActivityMs?: number
}

/** One coding agent's CLI: its dialect and the effects that are its own. */
export type AgentCli = {
  readonly name: AgentCliName
  readonly dialect: Dialect
  plan(request: LaunchRequest, signal: AbortSignal): Promise<LaunchPlan>
  /** The version of the program, or nothing when it is not there. */
  version(command: string, signal: AbortSignal): Promise<string | undefined>
  login(command: string, signal: AbortSignal): Promise<LoginState>
  /** The files of a conversation that are there by now, its subagents' too. */
  transcripts(conversation: Conversation): Promise<readonly TranscriptFile[]>
  /** Whether it may have taken a prompt: only a no is certain, and only then may a prompt be given again. */
  mayHaveRun(conversation: Conversation): Promise<boolean>
  /** Sessions of this CLI that run on this machine, from what it writes itself; nothing of theirs is touched. */
  foreign(env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly ForeignSession[]>
}
