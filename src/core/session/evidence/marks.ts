import type { Dialog, RateLimit } from '../../../contract/signal.ts'
import type { Mark } from './mark.ts'

/** What a screen adds to the shape it was read as. */
export type ScreenDetail = {
  readonly retry?: { readonly attempt: number; readonly of?: number }
  readonly limit?: string
  readonly error?: string
  readonly queued?: number
}

/** What is kept of each kind of sign: the latest one, and only what a judgement needs. */
type Details = {
  /** A conversation began, was resumed or cleared. */
  readonly ready: { readonly reason?: 'startup' | 'resume' | 'clear'; readonly foreignId?: string }
  readonly prompt: { readonly origin: 'person' | 'task' }
  readonly queued: object
  readonly 'tool-start': { readonly tool: string; readonly callId: string }
  readonly 'tool-end': { readonly callId: string; readonly ok: boolean }
  readonly text: { readonly text: string }
  /** A model response ended; `isLast` when it ended the turn, not when it called a tool, nothing when untold. */
  readonly response: { readonly isLast?: boolean }
  readonly 'turn-end': { readonly background: number }
  readonly 'turn-failed': {
    readonly error: string
    readonly status?: number
    readonly limit?: { readonly resetsAtMs?: number }
  }
  readonly interrupted: object
  readonly retrying: { readonly attempt?: number; readonly of?: number; readonly error?: string }
  readonly idle: object
  readonly compacted: { readonly trigger?: 'auto' | 'manual' }
  readonly meter: { readonly contextPercent?: number; readonly limits?: readonly RateLimit[] }
  readonly 'screen-working': ScreenDetail
  readonly 'screen-dialog': ScreenDetail & { readonly kind: Dialog['kind']; readonly title: string }
  readonly 'screen-calm': ScreenDetail & { readonly composer: 'empty' | 'text' }
  /** Nothing could be told from it: no box, no dialog, no sign of work. */
  readonly 'screen-opaque': ScreenDetail
  /** A subagent did something. */
  readonly agent: object
  /** The CLI said that its session is over. */
  readonly gone: { readonly reason?: string }
  /** The CLI left one conversation for another and lives on. */
  readonly switched: { readonly reason: string }
  readonly exited: { readonly code?: number; readonly signal?: string }
}

export type MarkName = keyof Details
export type MarkOf<N extends MarkName> = Mark & Details[N]
/** A mark under its name. */
export type NamedMark = { [N in MarkName]: { readonly name: N; readonly mark: MarkOf<N> } }[MarkName]
/** The latest mark of each name. */
export type Marks = { readonly [N in MarkName]?: MarkOf<N> }
