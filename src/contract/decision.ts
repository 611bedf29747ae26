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
