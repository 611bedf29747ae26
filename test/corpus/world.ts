import type { ScreenReading, Signal, SignalSource } from '../../src/contract/signal.ts'
import type { CaseConfig, Expected } from './corpus-case.ts'
import type { Profile } from './profiles.ts'

/** A signal as it was sent; whether and when it arrives is the matter of variations. */
export type Sent = { readonly id: number; readonly signal: Signal; readonly arrives: number }

/** What became true at a moment, and by which signals one could know. */
export type Truth = {
  readonly at: number
  readonly expected: Omit<Expected, 'complete'>
  readonly witnesses: Set<number>
  /** Whether looking at the screen is enough to know it. */
  readonly onScreen: boolean
}

/** What must be known to call a session complete: one signal of each group. */
export type Completion = { readonly needs: readonly (readonly number[])[] }

/** A moment at which a scenario is judged. */
export type Probe = {
  readonly name: string
  readonly now: number
  readonly sent: readonly Sent[]
  readonly truths: readonly Truth[]
  readonly completion: Completion | undefined
  readonly config: CaseConfig | undefined
}

type Unsent = Signal extends infer S ? (S extends Signal ? Omit<S, 'at' | 'source'> : never) : never
type Way = { readonly source: SignalSource; readonly agoMs?: number; readonly isWitness?: boolean }

export const screens = {
  calm: { composer: { state: 'empty' }, isWorking: false },
  draft: { composer: { state: 'text', text: 'half a prompt' }, isWorking: false },
  working: { composer: { state: 'empty' }, isWorking: true },
  blank: { composer: { state: 'none' }, isWorking: false },
} as const satisfies Record<string, ScreenReading>

/** How long each source takes from the event to us. */
const latency: Readonly<Record<SignalSource, number>> = {
  explicit: 5,
  hook: 40,
  transcript: 400,
  process: 250,
  pane: 5,
}

/** The bare world: a clock, what was sent, what is true. What a CLI does in it is in `agent.ts`. */
export class World {
  readonly profile: Profile
  readonly sent: Sent[] = []
  readonly probes: Probe[] = []
  readonly truths: Truth[] = []
  config: CaseConfig | undefined
  now = 0
  screen: ScreenReading = screens.blank
  completion: Completion | undefined

  constructor(profile: Profile) {
    this.profile = profile
  }

  /** Sends a signal; unless said otherwise it tells what is now true. */
  tell(unsent: Unsent, { source, agoMs = 0, isWitness = true }: Way): number {
    const id = this.sent.length
    const at = this.now - agoMs
    this.sent.push({ id, signal: { ...unsent, source, at } as Signal, arrives: this.now + latency[source] })
    if (isWitness) this.truths.at(-1)?.witnesses.add(id)
    return id
  }

  becomes(expected: Omit<Expected, 'complete'>, onScreen = true): void {
    this.truths.push({ at: this.now, expected, witnesses: new Set(), onScreen })
  }

  look(): void {
    const isWitness = this.truths.at(-1)?.onScreen ?? false
    this.tell({ kind: 'screen', reading: this.screen }, { source: 'pane', isWitness })
  }

  shows(screen: ScreenReading): void {
    this.screen = screen
  }

  /** Lets time pass while the screen is looked at. */
  wait(ms: number): void {
    const start = this.now
    for (const offset of lookTimes(ms)) {
      this.now = start + offset
      this.look()
    }
    this.now = start + ms
  }

  /** Lets time pass with nobody looking. */
  pass(ms: number): void {
    this.now += ms
  }

  probe(name: string): void {
    this.probes.push({
      name,
      now: this.now,
      sent: [...this.sent],
      truths: this.truths.map((truth) => ({ ...truth, witnesses: new Set(truth.witnesses) })),
      completion: this.completion,
      config: this.config,
    })
  }
}

/** Far fewer looks than in life: only the latest of each shape matters, and the corpus is to be read. */
function lookTimes(ms: number): number[] {
  const times = [1200].filter((time) => time < ms)
  const last = ms - 700
  if (last > 2500) times.push(last)
  return times
}
