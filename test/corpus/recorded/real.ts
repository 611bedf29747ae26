import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Signal } from '../../../src/contract/signal.ts'
import { seeded } from '../../support/random.ts'
import { type CorpusCase, isHeldOut } from '../corpus-case.ts'
import type { RealRecording } from './play.ts'

/** Where `npm run campaign record-states` puts what it recorded: a file for each CLI. */
export const realFolder = join(import.meta.dirname, 'real')

/** Sessions of real CLIs as they were, and the same with signals that come twice or out of order. */
export const realCases = (): readonly CorpusCase[] =>
  readdirSync(realFolder)
    .toSorted()
    .flatMap((file) => {
      const [, cli = '', version = ''] = /^([a-z]+)-(.+)\.jsonl$/.exec(file) ?? []
      const of = { cli: cli as CorpusCase['cli'], version }
      return recordingsIn(join(realFolder, file)).flatMap((recording) =>
        casesOf(`real-${recording.scenario}/${cli}-${version}`, of, recording),
      )
    })

/** What one CLI played: a line for each scenario. */
export const recordingsIn = (file: string): readonly RealRecording[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RealRecording)

function casesOf(
  name: string,
  of: Pick<CorpusCase, 'cli' | 'version'>,
  { signals, probes }: RealRecording,
): readonly CorpusCase[] {
  const first = signals.find(({ kind }) => kind === 'prompt')
  const startedWith = first?.kind === 'prompt' ? (first.text ?? '') : ''
  // Its program may show its box for long before it begins with the prompt that it was started with.
  const isBegun = (one: Signal) => one.kind === 'prompt' || (one.kind === 'screen' && one.reading.isWorking)
  const at = Math.min(...signals.filter(isBegun).map((one) => one.at)) - 1
  const before = { name: 'before-its-prompt', at, is: { lifecycle: 'starting' }, config: undefined } as const
  return [before, ...probes].flatMap(({ name: probe, at, is, config }) => {
    const known = signals.filter((signal) => signal.at <= at)
    return Object.entries(arrivals).map(([arrival, arrive]) => ({
      name: `${name}/${probe}/${arrival}`,
      ...of,
      signals: arrive(known),
      now: at,
      config: { ...config, startedWith },
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
