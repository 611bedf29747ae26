import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Signal } from '../../../src/contract/signal.ts'
import { seeded } from '../../support/random.ts'
import { type CorpusCase, isHeldOut } from '../corpus-case.ts'
import type { RealRecording } from './play.ts'

/** Where `npm run campaign record-states` puts what it recorded: a file for each CLI. */
export const realFolder = join(import.meta.dirname, 'real')

/** Sessions of real CLIs as they were, and the same with signals that come twice or out of order. */
export const real: readonly CorpusCase[] = readdirSync(realFolder)
  .toSorted()
  .flatMap((file) => {
    const [, cli = '', version = ''] = /^([a-z]+)-(.+)\.json$/.exec(file) ?? []
    const recordings = JSON.parse(readFileSync(join(realFolder, file), 'utf8')) as Readonly<
      Record<string, RealRecording>
    >
    return Object.entries(recordings).flatMap(([scenario, recording]) =>
      casesOf(`real-${scenario}/${cli}-${version}`, { cli: cli as CorpusCase['cli'], version }, recording),
    )
  })

function casesOf(
  name: string,
  of: Pick<CorpusCase, 'cli' | 'version'>,
  { signals, probes }: RealRecording,
): readonly CorpusCase[] {
  return probes.flatMap(({ name: probe, at, is, config }) => {
    const known = signals.filter((signal) => signal.at <= at)
    return Object.entries(arrivals).map(([arrival, arrive]) => ({
      name: `${name}/${probe}/${arrival}`,
      ...of,
      signals: arrive(known),
      now: at,
      ...(config && { config }),
      expected: { complete: false, ...is },
      heldOut: isHeldOut(name),
    }))
  })
}

/** Nothing is lost in any of them, so that the label holds. */
const arrivals: Readonly<Record<string, (signals: readonly Signal[]) => readonly Signal[]>> = {
  base: (signals) => signals,
  twice: (signals) => signals.flatMap((signal) => [signal, signal]),
  shuffled: (signals) => {
    const random = seeded(signals.length)
    // Each channel keeps its own order; one that is slow tells up to a second later.
    const lateness = new Map(signals.map(({ source }) => [source, random() * 1000]))
    return signals
      .map((signal, i) => ({ signal, i, at: signal.at + (lateness.get(signal.source) ?? 0) }))
      .toSorted((a, b) => a.at - b.at || a.i - b.i)
      .map(({ signal }) => signal)
  },
}
