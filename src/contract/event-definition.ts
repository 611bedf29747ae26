import type * as z from 'zod'
import type { BlobRef } from './values.ts'

/** How an event relates to its span: it opens it, closes it, or is a point inside it. */
export type SpanRole = 'start' | 'end' | 'point'

/** What a span is about; each kind has its own ways to begin and to end. */
export type SpanKind =
  | 'session'
  | 'agent'
  | 'task'
  | 'tool'
  | 'llm'
  | 'message'
  | 'approval'
  | 'effect'
  | 'workflow'
  | 'phase'
  | 'node'
  | 'round'
  | 'handoff'

/** SSE event names of the runtime's stream. */
export const sseTypes = [
  'StateUpdated',
  'Message',
  'SubagentSpawned',
  'SubagentResult',
  'AgentStatus',
  'SettingsUpdated',
  'QueueUpdated',
  'Token',
  'Outcome',
] as const
export type SseType = (typeof sseTypes)[number]

/**
 * Who may report an event through a door that others use. `daemon`: nobody; what it says is decided on. `operator`: a
 * person's tools, of a session that Muster does not run. `session`: also a session, of itself and of those below it.
 */
export type Reporter = 'daemon' | 'operator' | 'session'

/** What a title or the search text is made from. */
type Telling<P extends z.ZodObject> = { readonly payload: z.output<P>; readonly taskId?: string | undefined }

/** A line of `sm events`. */
type SmLine<P extends z.ZodObject> = {
  /** What `--type` takes for it. */
  readonly words: readonly [string, ...string[]]
  /** Which of its words, when it has several. */
  readonly word?: (event: Telling<P>) => string
  /** What follows the name of the session; an event for which this is nothing has no line. */
  readonly says: (event: Telling<P>) => string | false | undefined
  readonly metadata?: (event: Telling<P>) => Record<string, unknown> | null
}

type SpanUse =
  /** The kind of span that it opens. */
  | { readonly opens: SpanKind; readonly closes?: never }
  /** The kind of span that it closes. */
  | { readonly closes: SpanKind; readonly opens?: never }
  | { readonly opens?: never; readonly closes?: never }

/** Who may report it, and what of it they may not say. */
type Reportable<P extends z.ZodObject> =
  | { readonly reporter: 'daemon'; readonly control?: never }
  | {
      readonly reporter: 'operator' | 'session'
      /** Fields that only the daemon sets: a report that has one of them is refused. */
      readonly control: readonly (keyof z.output<P> & string)[]
    }

/** Everything that is said of one event type, in one place. */
type Declaration<P extends z.ZodObject> = SpanUse &
  Reportable<P> & {
    /** What it means, in one sentence. */
    readonly about: string
    /** A session that has ended still takes it. */
    readonly isLate?: true
    /** Its line in `sm events`; without it, none. */
    readonly sm?: SmLine<P>
    /** Its frames on `GET /api/events`; `StateUpdated` when none are named. */
    readonly sse?: readonly [SseType, ...SseType[]]
    /** Where it appears in a session file. */
    readonly std008?: string
    /** The parts of its line in lists; what is missing is left out. */
    readonly title: (event: Telling<P>) => readonly unknown[]
    /** Its words that people may look for; without it the event is not searched. */
    readonly search?: (event: Telling<P>) => unknown
    readonly payload: P
  }

/** One event type as everything else reads it. */
export type EventDefinition<P extends z.ZodObject = z.ZodObject> = {
  readonly about: string
  readonly reporter: Reporter
  readonly control: readonly string[]
  readonly span: SpanRole
  /** Undefined for a point. */
  readonly spanKind: SpanKind | undefined
  readonly isLate: boolean
  readonly sm: SmLine<P> | undefined
  readonly sse: readonly SseType[]
  readonly std008: string | null
  readonly title: (event: Telling<P>) => readonly unknown[]
  readonly search: ((event: Telling<P>) => unknown) | undefined
  readonly payload: P
}

/** Declares an event type; a family is an object of these, and the catalogue the union of the families. */
export const event = <P extends z.ZodObject>(declared: Declaration<P>): EventDefinition<P> => ({
  about: declared.about,
  reporter: declared.reporter,
  control: declared.control ?? [],
  span: declared.opens ? 'start' : declared.closes ? 'end' : 'point',
  spanKind: declared.opens ?? declared.closes,
  isLate: declared.isLate ?? false,
  sm: declared.sm,
  sse: declared.sse ?? ['StateUpdated'],
  std008: declared.std008 ?? null,
  title: declared.title,
  search: declared.search,
  payload: declared.payload,
})

/** The first line of what somebody said, for a line of `sm events`. */
export function quoted(text: string | BlobRef | undefined): string {
  if (text === undefined) return ''
  const whole = typeof text === 'string' ? text : text.preview
  return ` - "${(whole.trim().split('\n', 1)[0] ?? '').slice(0, 300)}"`
}

/** Whole minutes, or seconds below one. */
export function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes === 0) return `${Math.round(ms / 1000)} seconds`
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}
