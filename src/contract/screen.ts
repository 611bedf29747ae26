/** The visible part of a pane, as text without colours, with lines of its history above when they were asked for. */
export type Screen = {
  /** Blank ones too: the visible part is the last `height` of them, and `cursor.y` is an index into all. */
  readonly lines: readonly string[]
  readonly width: number
  readonly height: number
  readonly cursor: { readonly x: number; readonly y: number; readonly isVisible: boolean }
  /** A person scrolls or selects in it; keys would go to that, not to the program. */
  readonly isInMode: boolean
  /** How many clients of people look at it. */
  readonly attached?: number
  /** When a person last attached or pressed a key in a client that looks at it; to the second. */
  readonly lastKeyMs?: number
  /** When the program last wrote anything to it; to the second. */
  readonly drawnMs?: number
  /** Changes when the cursor moves and in every second in which a person presses a key. */
  readonly stamp?: string
  /** The id of what was pasted into this terminal last, if anything was. */
  readonly pastedId?: string
  readonly title: string
}
