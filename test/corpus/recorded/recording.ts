import type { Signal } from '../../../src/contract/signal.ts'
import { type CorpusCase, type Expected, isHeldOut } from '../corpus-case.ts'

export type Label = Omit<Expected, 'complete'> & { readonly complete?: boolean }

/** A moment of a recorded session. `without` has what a careful person says when a channel is not there. */
type Probe = {
  readonly name: string
  readonly at: number
  readonly is: Label
  readonly without?: Partial<Record<'hooks' | 'transcript' | 'screen', Label>>
}

/** A session as it was recorded: the times are those of its transcript, the screens those that were captured. */
export type Recording = {
  readonly name: string
  readonly cli: CorpusCase['cli']
  readonly version: string
  readonly signals: readonly Signal[]
  readonly probes: readonly Probe[]
}

const channels = { all: undefined, hooks: 'hook', transcript: 'transcript', screen: 'pane' } as const

/** The cases of a recording: each of its moments, with every channel and without one of them. */
export function casesOf({ name, cli, version, signals, probes }: Recording): readonly CorpusCase[] {
  return probes.flatMap((probe) =>
    Object.entries(channels).flatMap(([channel, source]) => {
      const known = signals.filter(({ at }) => at <= probe.at * 1000)
      const kept = known.filter((signal) => signal.source !== source)
      if (source !== undefined && kept.length === known.length) return []
      const full = `recorded-${name}/${cli}-${version}/${probe.name}/${channel === 'all' ? 'base' : `no-${channel}`}`
      const other = channel === 'all' ? undefined : probe.without?.[channel as 'hooks']
      return [
        {
          name: full,
          cli,
          version,
          signals: kept,
          now: probe.at * 1000,
          expected: { complete: false, ...(other ?? probe.is) },
          ...(kept.length < known.length && { isLossy: true as const }),
          ...(other && { undecidable: `nothing else than the ${channel} told it` }),
          heldOut: isHeldOut(full),
        },
      ]
    }),
  )
}
