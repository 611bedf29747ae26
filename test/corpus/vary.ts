import type { SignalSource } from '../../src/contract/signal.ts'
import type { Probe, Sent } from './world.ts'

/** A way in which what was sent and what arrived differ. */
export type Variation = {
  readonly name: string
  readonly arrive: (probe: Probe, random: () => number) => readonly Sent[]
}

const arrived = ({ sent, now }: Probe): Sent[] =>
  sent.filter(({ arrives }) => arrives <= now).toSorted((a, b) => a.arrives - b.arrives || a.id - b.id)

const without =
  (source: SignalSource): Variation['arrive'] =>
  (probe) =>
    arrived(probe).filter(({ signal }) => signal.source !== source)

export const inOrder: Variation = { name: 'base', arrive: arrived }

/** What happens to signals on their way. Whether one differs from the base is seen by comparing. */
export const variations: readonly Variation[] = [
  { name: 'shuffled', arrive: (probe, random) => shuffle(arrived(probe), random) },
  {
    name: 'twice',
    arrive: (probe, random) => {
      const all = arrived(probe)
      return shuffle([...all, ...all.filter(() => random() < 0.5)], random)
    },
  },
  {
    name: 'lost-one',
    arrive: (probe, random) => {
      const all = arrived(probe)
      // The last of them decide; an old one that is lost changes nothing.
      const recent = all.filter(({ signal }) => signal.source !== 'pane').slice(-6)
      const lost = recent[Math.floor(random() * recent.length)]
      return all.filter((one) => one !== lost)
    },
  },
  {
    name: 'lost-two',
    arrive: (probe, random) => {
      const all = arrived(probe)
      const lost = new Set(shuffle(all.slice(-9), random).slice(0, 2))
      return all.filter((one) => !lost.has(one))
    },
  },
  {
    name: 'late',
    arrive: ({ sent, now }, random) =>
      sent
        .map((one) => (random() < 0.3 ? { ...one, arrives: one.arrives + random() * 3000 } : one))
        .filter(({ arrives }) => arrives <= now)
        .toSorted((a, b) => a.arrives - b.arrives || a.id - b.id),
  },
  { name: 'no-hooks', arrive: without('hook') },
  { name: 'no-transcript', arrive: without('transcript') },
  { name: 'no-screen', arrive: without('pane') },
  {
    name: 'no-status-file',
    arrive: (probe) =>
      arrived(probe).filter(({ signal }) => signal.source !== 'process' || signal.kind === 'exited'),
  },
]

function shuffle<T>(list: readonly T[], random: () => number): T[] {
  const next = [...list]
  for (let i = next.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const [a, b] = [next[i] as T, next[j] as T]
    next[i] = b
    next[j] = a
  }
  return next
}
