import type { AgentCliName } from './config/names.ts'
import type { Screen } from './screen.ts'
import type { Dialog, ScreenReading, Signal } from './signal.ts'

/** A decision on what a CLI asked, as the person or parent gave it. */
export type Decision =
  | {
      readonly verdict: 'allow'
      readonly scope: 'once' | 'session' | 'always'
      /** For questions: the chosen labels or free text, by question. */
      readonly answers?: Readonly<Record<string, string>>
    }
  | { readonly verdict: 'deny'; readonly reason?: string; readonly isInterrupt?: boolean }

/** What a gate says of a tool that is about to run. */
export type GateAnswer = { readonly allowed: true } | { readonly allowed: false; readonly reason: string }

/** How an answer to a hook travels: the text on stdout or in the body, and the exit code of a command hook. */
export type HookReply = { readonly body: string; readonly exitCode: number }

/** What the reader of a transcript remembers between lines: plain data, so that it can be kept. */
export type TranscriptMemory = Record<string, unknown>

/** Which conversation a line is from; a subagent's file has its id. */
export type TranscriptContext = {
  readonly agent?: string
  /** Changed in place by the reader of lines; begins empty for each file. */
  readonly memory: TranscriptMemory
}

/** How one CLI speaks: pure translation between its words and ours. Unknown input yields nothing and never throws. */
export type Dialect = {
  readonly cli: AgentCliName
  /** A payload of a hook, plugin or status line; `at` is when it was sent. */
  readonly hook: (payload: unknown, at: number) => readonly Signal[]
  /** One line of a transcript. */
  readonly line: (line: string, context: TranscriptContext) => readonly Signal[]
  readonly screen: (screen: Screen, version: string) => ScreenReading
  /** For how long this CLI itself keeps an answer that a hook gave; what is missing here Muster remembers. */
  readonly keeps: readonly ('session' | 'always')[]
  /** The answer that lets a held permission hook go on; nothing when this CLI cannot be answered that way. */
  readonly decision: (payload: unknown, decision: Decision) => HookReply | undefined
  /** The keys that give this answer in a dialog on the screen; nothing when none of its choices means it. */
  readonly answerKeys?: (dialog: Dialog, decision: Decision) => readonly string[] | undefined
  /** The answer to a hook that asks whether a tool may run. */
  readonly gate: (payload: unknown, answer: GateAnswer) => HookReply
  /** The answer that brings a message into a running turn; nothing when this hook or CLI cannot. */
  readonly inject: (payload: unknown, text: string) => HookReply | undefined
  /** Whether its transcript shows what was injected; where it does, nothing else is taken for a receipt. */
  readonly recordsInjected?: true
  /** The answer that changes nothing. */
  readonly nothing: HookReply
  readonly typing: (version: string) => Typing
  /** A message as it may be typed: no leading character that the CLI would take for a command. */
  readonly harmless: (text: string) => string
}

/** How text gets into this CLI. Keys are tmux key names. */
export type Typing = {
  readonly submit: readonly string[]
  readonly interrupt: readonly string[]
  /** Empties the box; only ever used on text that is our own. */
  readonly clear: readonly string[]
  /** Between the paste and the key that submits it. */
  readonly settleMs: number
  /** A paste is shown as a marker like `[Pasted text #1]` beyond so many characters or lines, if ever. */
  readonly marker?: RegExp
  /** What the first keys of a graceful end are, before the process is signalled. */
  readonly quit: readonly string[]
}
