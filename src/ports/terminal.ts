import type { Screen } from '../contract/screen.ts'

/** A terminal of ours: the exact ids by which it is addressed, never a name. */
export type PaneRef = {
  /** Which run of the server: with the next, the same ids come again for other terminals. */
  readonly server: string
  readonly session: string
  readonly pane: string
}

/** What to run in a new terminal. */
export type OpenRequest = {
  /** Letters, digits, - and _ only; unique on the server. */
  readonly name: string
  /** Whose it is, in letters, digits, - and _; the server keeps it with the terminal. */
  readonly owner: string
  readonly workingDir: string
  /** The whole environment of the program; TERM is the terminal's own unless it is given. */
  readonly env: Readonly<Record<string, string>>
  readonly argv: readonly string[]
  /** A file that the program's pid is written to before it starts, by which it joins a group. */
  readonly group?: string | undefined
  /** A private folder for the launch script, which removes itself as it starts. */
  readonly folder: string
  readonly width: number
  readonly height: number
}

/** A terminal as the server lists it. */
export type PaneInfo = PaneRef & {
  readonly name: string
  readonly owner: string
  readonly pid: number
  readonly isDead: boolean
  readonly exitCode?: number
  readonly exitSignal?: string
  readonly attached: number
  readonly title: string
}

/**
 * What a terminal tells without being asked, each thing once. What had happened before the connection was made is only
 * in `panes`; so listen first, then ask. `exited` comes after `open` has answered, and `closed` after a `close` too.
 */
export type TerminalEvent =
  | {
      readonly kind: 'exited'
      readonly server: string
      readonly pane: string
      readonly code?: number
      readonly signal?: string
    }
  | { readonly kind: 'closed'; readonly server: string; readonly session: string }
  /** That run of the server is over, with every terminal in it; a new one is there. */
  | { readonly kind: 'died'; readonly server: string }
  /** The connection to the server broke and is being made again; or the server itself is gone. */
  | { readonly kind: 'lost' }
  /** All that happened while it was lost has been told. */
  | { readonly kind: 'restored' }

/** A text to paste, by an id of its own. With the stamp of a screen, only if nothing has moved since that look. */
export type Paste = { readonly text: string; readonly id: string; readonly stamp?: string | undefined }

/** Keys to press: one character each, or names such as Enter, Escape, Up, C-c. The stamp is as for a paste. */
export type Stroke = { readonly keys: readonly string[]; readonly stamp?: string | undefined }

/** Real terminals that outlive the daemon. */
export type Terminal = {
  /** What attaches a person's own terminal to it; inside another tmux, TMUX must be taken from its environment. */
  attachArgv(pane: PaneRef): readonly string[]
  /** Leaves nothing behind when it fails or is aborted; a program that ends at once is told by `exited`. */
  open(request: OpenRequest, signal: AbortSignal): Promise<PaneRef & { readonly pid: number }>
  /** Which run of the server it is connected to. */
  server(): string
  /** All that were opened from this state folder; those of others on the same server are not told. */
  panes(signal: AbortSignal): Promise<readonly PaneInfo[]>
  /** The visible screen; with `history` also so many lines above it. */
  capture(pane: PaneRef, signal: AbortSignal, history?: number): Promise<Screen>
  /**
   * Pastes text as one block that the program can tell from typing, keeping its line feeds; CR becomes LF, and other
   * control characters but tab are left out. A program that reads whole lines gets at most 4 KB of each. In the same
   * moment the terminal remembers the paste's id, so that after any crash `capture` tells whether it was made. False
   * when something has moved since the look, and nothing was pasted.
   */
  paste(pane: PaneRef, paste: Paste, signal: AbortSignal): Promise<boolean>
  /** Ends a person's scrolling or selecting, and presses the keys; false when something has moved since the look. */
  keys(pane: PaneRef, stroke: Stroke, signal: AbortSignal): Promise<boolean>
  /** Has the program draw its whole screen again, as after a change of size: what it thinks is there may not be. */
  redraw(pane: PaneRef, signal: AbortSignal): Promise<void>
  /** Ends the session with all that is in it; one that is gone already is no error. */
  close(pane: PaneRef, signal: AbortSignal): Promise<void>
  listen(listener: (event: TerminalEvent) => void): () => void
  /** Lets go of the connection; the terminals stay, and a server without any ends. */
  release(): Promise<void>
}
