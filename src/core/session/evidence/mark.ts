import { type SignalSource, signalSources } from '../../../contract/signal.ts'

/** That something was seen: when, and by whom it was told. */
export type Mark = { readonly at: number; readonly source: SignalSource }

/** How much a source is believed, from 0 to 1; the order is that of `signalSources`. */
export const trustOf: Readonly<Record<SignalSource, number>> = {
  explicit: 1,
  hook: 0.9,
  transcript: 0.8,
  process: 0.7,
  pane: 0.6,
}

/**
 * The one that stands when two marks of the same thing meet: the later, then the better trusted. The last
 * tie is broken by content, so that the order of arrival never decides.
 */
export function newer<M extends Mark>(a: M | undefined, b: M): M {
  if (a === undefined) return b
  if (a.at !== b.at) return a.at > b.at ? a : b
  const [trustA, trustB] = [signalSources.indexOf(a.source), signalSources.indexOf(b.source)]
  if (trustA !== trustB) return trustA < trustB ? a : b
  return JSON.stringify(a) >= JSON.stringify(b) ? a : b
}

/** The latest of some marks; ties go to the better trusted. */
export function latest<M extends Mark>(marks: readonly (M | undefined)[]): M | undefined {
  let best: M | undefined
  for (const mark of marks) if (mark !== undefined) best = newer(best, mark)
  return best
}

/** When a mark was made, or before everything when there is none. */
export const timeOf = (mark: Mark | undefined): number => mark?.at ?? Number.NEGATIVE_INFINITY
