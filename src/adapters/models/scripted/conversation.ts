import type { Turn } from './turn.ts'

/** A tool as a request offers it. */
export type OfferedTool = { readonly namespace?: string; readonly takesText: boolean }

/** What the answer to a request depends on, whatever its protocol. */
export type Conversation = {
  readonly model: string
  readonly isStream: boolean
  readonly turns: readonly Turn[]
  readonly tools: ReadonlyMap<string, OfferedTool>
  /** Titles, quota probes and summaries: they get a neutral answer, of this shape if they ask for one. */
  readonly side: { readonly shape: unknown } | undefined
}

/** The shape of requests that want JSON and do not say which. */
export const anyObject = { type: 'object' }
