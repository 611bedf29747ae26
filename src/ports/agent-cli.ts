import type { AgentCliName } from '../contract/config/names.ts'
import type { Decision, GateAnswer } from '../contract/decision.ts'
import type { Screen } from '../contract/screen.ts'
import type { Dialog, ScreenReading, Signal } from '../contract/signal.ts'
import type { PermissionMode } from '../contract/values.ts'
import type { ConfigHome } from './isolation.ts'

/** One coding agent's CLI: its dialect and the effects that are its own. */
export type AgentCli = {
  readonly name: AgentCliName
  readonly dialect: Dialect
  plan(request: LaunchRequest, signal: AbortSignal): Promise<LaunchPlan>
  /** The version of the program, or nothing when it is not there; one that does not answer in time is refused as such. */
  version(command: string, signal: AbortSignal): Promise<string | undefined>
  login(command: string, signal: AbortSignal): Promise<LoginState>
  /** The files of a conversation that are there by now, its subagents' too. */
  transcripts(conversation: Conversation): Promise<readonly TranscriptFile[]>
  /** Whether it may have taken a prompt: only a no is certain, and only then may a prompt be given again. */
  mayHaveRun(conversation: Conversation): Promise<boolean>
  /** Sessions of this CLI that run on this machine, from what it writes itself; nothing of theirs is touched. */
  foreign(env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly ForeignSession[]>
}

/** How one CLI speaks: pure translation between its words and ours. Unknown input yields nothing and never throws. */
export type Dialect = {
  /** A payload of a hook, plugin or status line; `at` is when it was sent. */
  readonly hook: (payload: unknown, at: number) => readonly Signal[]
  /** One line of a transcript. */
  readonly line: (line: string, context: TranscriptContext) => readonly Signal[]
  readonly screen: (screen: Screen, version: string) => ScreenReading
  /** For how long this CLI itself keeps an answer that a hook gave; what is missing here Muster remembers. */
  readonly keeps: readonly ('session' | 'always')[]
  /** The answer that releases a held permission hook; nothing when this CLI cannot be answered that way. */
  readonly decision: (payload: unknown, decision: Decision) => HookReply | undefined
  /** The keys that give this answer in a dialog on the screen; nothing when none of its choices means it. */
  readonly answerKeys?: (dialog: Dialog, decision: Decision) => readonly string[] | undefined
  /** The answer to a hook that asks whether a tool may run. */
  readonly gate: (payload: unknown, answer: GateAnswer) => HookReply
  /** The answer that brings a message into a running turn; nothing when this hook or CLI cannot. */
  readonly inject: (payload: unknown, text: string) => HookReply | undefined
  /** Whether its transcript shows what was injected; where it does, nothing else is taken for a receipt. */
  readonly recordsInjected?: true
  /** Its hook tells the end of an interrupted turn like that of any other; its transcript says which it was. */
  readonly recordsEnds?: true
  /** The answer that changes nothing. */
  readonly nothing: HookReply
  readonly typing: (version: string) => Typing
  /** A message as it may be typed: no leading character that the CLI would take for a command. */
  readonly harmless: (text: string) => string
}

/** How an answer to a hook travels: the text on stdout or in the body, and the exit code of a command hook. */
export type HookReply = { readonly body: string; readonly exitCode: number }

/** What the reader of a transcript remembers between lines: plain data, so that it can be kept. */
export type TranscriptMemory = Record<string, unknown>

/** Which conversation a line is from; a subagent's file has its id. */
export type TranscriptContext = {
  readonly agent?: string
  readonly subagent?: SubagentInfo
  /** Changed in place by the reader of lines; begins empty for each file. */
  readonly memory: TranscriptMemory
}

/** How text gets into this CLI. Keys are tmux key names. */
export type Typing = {
  readonly submit: readonly string[]
  /** Pressed again for a screen that asks whether it is meant. */
  readonly interrupt: readonly string[]
  /** Empties the box; only ever used on text that Muster typed. */
  readonly clear: readonly string[]
  /** Between the paste and the key that submits it. */
  readonly settleMs: number
  /** A paste is shown as a marker like `[Pasted text #1]` beyond so many characters or lines, if ever. */
  readonly marker?: RegExp
  /** What the first keys of a graceful end are, before the process is signalled. */
  readonly quit: readonly string[]
}

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
  /** The id of the CLI's own conversation: a new one to use, or the one to resume. */
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

/** What is known of a subagent besides what it says itself. */
export type SubagentInfo = {
  readonly agentType?: string
  readonly description?: string
  /** The call that started it. */
  readonly callId?: string
  /** It works on when the turn that started it has ended. */
  readonly isBackground?: boolean
}

/** A file that a CLI writes its conversation to; one of a subagent has its id. */
export type TranscriptFile = SubagentInfo & { readonly path: string; readonly agent?: string }

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
