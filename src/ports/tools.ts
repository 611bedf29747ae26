import type * as z from 'zod'
import type { SpanId } from '../contract/ids.ts'
import type { ToolCategory } from '../contract/values.ts'

/** Where a call works and what it may touch; the gates have let it through already. */
export type ToolContext = {
  /** The project, a full path with links resolved; nothing outside of it is written. */
  readonly workspace: string
  /** Limits on what may be changed, each a list of globs relative to the workspace: a file has to be in all of them. */
  readonly writable: readonly (readonly string[])[]
  /** Whether anything may be changed at all: what a Bash without it writes is thrown away. */
  readonly mayChange: boolean
  /** What this run has read, by full path: a file that exists is read before it is overwritten. */
  readonly seen: Map<string, SeenFile>
  /** What it read and wrote before a restart cut it off. */
  readonly seenBefore: readonly SeenBefore[]
  /** Ends the call, and every process it started. */
  readonly signal: AbortSignal
  /** What comes while the call runs, for people who look on. */
  readonly onOutput: (text: string) => void
  /** The call itself: what it starts belongs below it. */
  readonly call: { readonly callId: string; readonly spanId: SpanId }
}

/** A file as it was when it was read. */
export type SeenFile = { readonly mtimeMs: number; readonly size: number }

/** A file that a call named, in its own words, and when that call had ended. */
export type SeenBefore = { readonly path: string; readonly atMs: number }

/** What a call gave. `text` is for the model and bounded; an error is an answer too. */
export type ToolOutcome = {
  readonly text: string
  readonly isError: boolean
  readonly isTruncated?: true
  readonly exitCode?: number
  /** Files that were changed, relative to the workspace. */
  readonly changes?: readonly FileChange[]
  /** The run has nothing more to do after this call: its last words, and what it made. */
  readonly ends?: { readonly text: string; readonly output?: unknown }
  /** Files that were changed though they may not be, relative to the workspace; they are as they were but for those in `changes`. */
  readonly scopeViolation?: readonly string[]
}

/** How the answer of a search begins that found nothing; an agent that keeps searching so is told to stop. */
export const nothingFound = { files: 'No file matches.', lines: 'No matches.' }

/** A file that a call changed. */
export type FileChange = {
  readonly path: string
  readonly change: 'created' | 'modified' | 'deleted'
  readonly linesAdded?: number
  readonly linesRemoved?: number
}

/** A tool under Claude Code's name. */
export type Tool = {
  readonly name: string
  /** For the model: what it does and when to use it. */
  readonly description: string
  readonly category: z.infer<typeof ToolCategory>
  readonly input: z.ZodType<Readonly<Record<string, unknown>>>
  /** Calls of it that stand side by side in one turn run at the same time. */
  readonly isParallel?: true
  /** The JSON Schema to tell models in place of that of `input`, of a tool that is not ours. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** Files that a call would change, relative to the workspace and with links resolved; before the gates, without effect. */
  changes(input: unknown, workspace: string): Promise<readonly string[]>
  /** Takes away what a call on this path has left that was cut off with its process. */
  tidy?(path: string, workspace: string): Promise<void>
  /** Never throws for what the model did wrong: that is an outcome with `isError`. */
  run(input: unknown, context: ToolContext): Promise<ToolOutcome>
}
