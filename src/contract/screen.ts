/** The visible part of a pane, as text without colours. */
export type Screen = {
  readonly lines: readonly string[]
  readonly width: number
  readonly height: number
  readonly cursor: { readonly x: number; readonly y: number; readonly isVisible: boolean }
  /** A person scrolls or selects in it; keys would go to that, not to the program. */
  readonly isInMode: boolean
  readonly title: string
}
