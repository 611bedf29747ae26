import type { Screen } from '../contract/screen.ts'

/** A terminal of ours: the exact ids by which it is addressed, never a name. */
export type PaneRef = { readonly session: string; readonly pane: string }

/** What to run in a new terminal. */
export type OpenRequest = {
  /** Letters, digits, - and _ only; unique on the server. */
  readonly name: string
  readonly workingDir: string
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>
  readonly argv: readonly string[]
  /** A private folder in which the launch script is written. */
  readonly folder: string
  readonly width: number
  readonly height: number
}

/** A terminal as the server lists it. */
export type PaneInfo = PaneRef & {
  readonly name: string
  readonly pid: number
  readonly isDead: boolean
  readonly exitCode?: number
  readonly exitSignal?: string
  readonly attached: number
  /** When a person last pressed a key in a client that looks at it. */
  readonly lastKeyMs?: number
  readonly title: string
}

/** What a terminal tells without being asked. */
export type TerminalEvent =
  | { readonly kind: 'exited'; readonly pane: string; readonly code?: number; readonly signal?: string }
  | { readonly kind: 'closed'; readonly session: string }
  /** The connection to the server broke and is being made again; or the server itself is gone. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'restored' }

/** Real terminals that outlive the daemon. */
export type Terminal = {
  /** Which server this is, for a person's own terminal: the argv that attaches to a session. */
  attachArgv(pane: PaneRef): readonly string[]
  open(request: OpenRequest, signal: AbortSignal): Promise<PaneRef & { readonly pid: number }>
  panes(signal: AbortSignal): Promise<readonly PaneInfo[]>
  /** The visible screen; with `history` also so many lines above it. */
  capture(pane: PaneRef, signal: AbortSignal, history?: number): Promise<Screen>
  /** Pastes text as one block that the program can tell from typing, keeping its line feeds. */
  paste(pane: PaneRef, text: string, signal: AbortSignal): Promise<void>
  keys(pane: PaneRef, keys: readonly string[], signal: AbortSignal): Promise<void>
  leaveMode(pane: PaneRef, signal: AbortSignal): Promise<void>
  close(pane: PaneRef, signal: AbortSignal): Promise<void>
  listen(listener: (event: TerminalEvent) => void): () => void
  /** Lets go of the connection; the terminals stay. */
  release(): Promise<void>
}
