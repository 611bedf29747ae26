import type { ErrorCode } from '../contract/errors.ts'
import type { ScriptCall, ScriptMeta, ScriptSource } from '../contract/script.ts'

/** What is left of the limits of a run; null where there is none. */
export type ScriptBudget = {
  readonly tokens: number | null
  readonly agents: number | null
  readonly usd: number | null
}

/** What a script is told when what it asked for has come to its end; a refusal is its to catch. */
export type ScriptAnswer = {
  /** When it was answered, the same when the script runs again: its clock. */
  readonly atMs: number
  readonly left: ScriptBudget
} & ({ readonly value: unknown } | { readonly error: { readonly code: ErrorCode; readonly message: string } })

/** What a script is begun with. */
export type ScriptBeginning = {
  readonly source: ScriptSource
  readonly args: unknown
  /** The moment that its clock begins at, and what its chance is drawn from. */
  readonly nowMs: number
  readonly seed: string
  readonly left: ScriptBudget
  /** A person has agreed that it runs without walls where this machine has none. */
  readonly isUnsafe?: boolean
}

/** Runs what users write, each behind walls in a process of its own that reaches nothing but those who answer it. */
export type Scripts = {
  /** Reads a file and what it imports, and what it says of itself; nothing of it runs. */
  describe(file: string): Promise<{ readonly meta: ScriptMeta; readonly source: ScriptSource }>
  /** Refuses to run anything where this machine has no walls and nobody agreed to do without. */
  requireWalls(isUnsafe: boolean, signal: AbortSignal): Promise<void>
  /** What the script returned. One that throws, hangs or breaks a rule has failed, with the line where it did. */
  run(
    beginning: ScriptBeginning,
    answer: (call: ScriptCall) => Promise<ScriptAnswer>,
    signal: AbortSignal,
  ): Promise<unknown>
}
