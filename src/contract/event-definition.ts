import type * as z from 'zod'

/** How an event stands to its span: it opens it, closes it, or is a point inside it. */
export type SpanRole = 'start' | 'end' | 'point'

/** One event type: what it means, its place in a span, and its payload. */
export type EventDefinition = {
  readonly about: string
  readonly span: SpanRole
  readonly payload: z.ZodObject
}

/** Declares a family of events; the catalogue is the union of the families and the only list of types. */
export const family = <const F extends Record<string, EventDefinition>>(definitions: F): F => definitions
