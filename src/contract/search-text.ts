/** What of one event can be searched: its title, a bounded body, and what the operators look at. */
export type SearchText = {
  readonly title: string
  readonly body: string
  readonly tool?: string
  /** Paths, separated by spaces. */
  readonly files?: string
  readonly status?: string
}
