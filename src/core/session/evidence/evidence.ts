import { type Dialog, type RateLimit, type SignalSource, signalSources } from '../../../contract/signal.ts'
import type { Ask, Call, Subagent } from './calls-and-questions.ts'

/**
 * What has been seen of one session: plain data of bounded size. It only gathers; nothing is concluded
 * or taken back, so that the same signals give the same evidence in any order and however often.
 *
 * The chapters of this folder, in reading order: `evidence.ts` (what is kept), `observe.ts` with
 * `calls-and-questions.ts` (how each signal changes it), `timeouts.ts` (how long a sign is believed), `turn.ts`
 * and `pending-question.ts` (what it says), `conclude.ts` (the state), `verdict.ts` (how sure, and until when),
 * `explain.ts` (in words for people), `completion.ts` with `last-message.ts` (whether the work looks complete).
 */
export type Evidence = {
  readonly last: LastSightings
  readonly calls: readonly Call[]
  /** What a person was asked. */
  readonly asks: readonly Ask[]
  /** What was asked and has been answered from outside. */
  readonly answers: readonly Ask[]
  readonly agents: readonly Subagent[]
}

/** What is known of a session of which nothing was seen yet. */
export const noEvidence: Evidence = { last: {}, calls: [], asks: [], answers: [], agents: [] }

/** That something was seen: when, and by whom it was told. */
export type Sighting = { readonly at: number; readonly source: SignalSource }

/** What a screen adds to the shape it was read as. */
export type ScreenDetail = {
  readonly retry?: { readonly attempt: number; readonly of?: number }
  readonly limit?: string
  readonly error?: string
  readonly queued?: number
}

/** What is kept of each kind of sighting: only what a verdict needs. */
type SightingDetails = {
  /** A conversation began, was resumed or cleared. */
  readonly ready: { readonly reason?: 'startup' | 'resume' | 'clear'; readonly foreignId?: string }
  readonly prompt: { readonly origin: 'person' | 'task' }
  readonly queued: object
  readonly 'tool-start': { readonly tool: string; readonly callId: string }
  readonly 'tool-end': { readonly callId: string; readonly ok: boolean }
  readonly text: { readonly text: string }
  /** A model response ended; `isLast` when it ended the turn, not when it called a tool, undefined when unknown. */
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
  readonly compacting: { readonly trigger?: 'auto' | 'manual' }
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

export type SightingKind = keyof SightingDetails

export type SightingOf<N extends SightingKind> = Sighting & SightingDetails[N]

/** A sighting that is about to be kept under its kind. */
export type NewSighting = {
  [N in SightingKind]: { readonly kind: N; readonly sighting: SightingOf<N> }
}[SightingKind]

/** The latest sighting of each kind. */
export type LastSightings = { readonly [N in SightingKind]?: SightingOf<N> }

/** How much a source is believed, from 0 to 1; the order is that of `signalSources`. */
export const trustOf: Readonly<Record<SignalSource, number>> = {
  explicit: 1,
  hook: 0.9,
  transcript: 0.8,
  process: 0.7,
  pane: 0.6,
}

/**
 * Which of two sightings of the same thing is kept: the later, then the better trusted. The last
 * tie is broken by content, so that the order of arrival never decides.
 */
export function newer<M extends Sighting>(a: M | undefined, b: M): M {
  if (a === undefined) return b
  if (a.at !== b.at) return a.at > b.at ? a : b
  const [trustA, trustB] = [signalSources.indexOf(a.source), signalSources.indexOf(b.source)]
  if (trustA !== trustB) return trustA < trustB ? a : b
  return JSON.stringify(a) >= JSON.stringify(b) ? a : b
}

/** The latest of some sightings; ties go to the better trusted. */
export function latest<M extends Sighting>(sightings: readonly (M | undefined)[]): M | undefined {
  let best: M | undefined
  for (const sighting of sightings) if (sighting !== undefined) best = newer(best, sighting)
  return best
}

/** When a sighting was made, or before everything when there is none. */
export const timeOf = (sighting: Sighting | undefined): number => sighting?.at ?? Number.NEGATIVE_INFINITY

/** Evidence is kept for as long as a session lives, so everything in it has a size. */
export const bounds = { calls: 48, asks: 12, agents: 32, limits: 8, shortText: 200, text: 4000 } as const

/** A short text: names, ids, titles, errors. */
export const shortText = (text: string): string =>
  text.length > bounds.shortText ? text.slice(0, bounds.shortText) : text

const head = 1500
const gap = '\n…\n'

/** A message with its beginning and its end; what it claims is in one of them. */
export const clippedMessage = (text: string): string =>
  text.length > bounds.text
    ? `${text.slice(0, head)}${gap}${text.slice(text.length - (bounds.text - head - gap.length))}`
    : text

/** The newest entries, in a fixed order: the same set gives the same list, in whatever order it came. */
export function newest<T>(
  entries: readonly T[],
  limit: number,
  order: { readonly at: (entry: T) => number; readonly key: (entry: T) => string },
): readonly T[] {
  const { at, key } = order
  return entries.toSorted((a, b) => at(b) - at(a) || (key(a) < key(b) ? -1 : 1)).slice(0, limit)
}
