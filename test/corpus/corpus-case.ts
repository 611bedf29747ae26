import type { AgentCliName } from '../../src/contract/config/names.ts'
import type { Signal } from '../../src/contract/signal.ts'
import type { DerivedState } from '../../src/core/session/evidence/conclude.ts'

/** What really was the case, or what a careful person would say where nobody could know. */
export type Expected = Pick<DerivedState, 'lifecycle'> &
  Partial<Pick<DerivedState, 'activity' | 'health'>> & {
    /** `none` says that it waits for nothing. */
    readonly waitingFor?: DerivedState['waitingFor'] | 'none'
    readonly complete: boolean
  }

/** How one case differs from the usual settings. */
export type CaseConfig = {
  readonly mode?: 'auto' | 'manual' | 'supervised'
  readonly idleTimeoutSeconds?: number
  readonly detectPhrases?: boolean
  readonly patterns?: readonly string[]
  readonly startedAt?: number
  /** The prompt that its program was started with. */
  readonly startedWith?: string
  /** A later daemon follows it from here on, and reads its record again. */
  readonly resumedAt?: number
  /** The daemon before it was gone from here on; when left out, until then. */
  readonly downAt?: number
  /** The machine slept until then, from the last signal before it on. */
  readonly sleptUntil?: number
  readonly children?: number
  readonly milestone?: string
}

/** One labelled case: what was seen, in the order it arrived, and the truth. Times are relative to a start. */
export type CorpusCase = {
  readonly name: string
  readonly cli: AgentCliName
  readonly version: string
  readonly signals: readonly Signal[]
  readonly now: number
  readonly config?: CaseConfig
  readonly expected: Expected
  /** Whether some signal that was sent is not among them. */
  readonly isLossy?: true
  /** Why no signal could tell the truth; the label is then what a careful person would say. */
  readonly undecidable?: string
  readonly heldOut: boolean
}

/** Variations of one scenario stay together, so that the held-out part shares none with the rest. */
export const familyOf = (name: string): string => name.split('/').slice(0, 2).join('/')

/** A third of all families is held out: the rules were never fitted to it. */
export function isHeldOut(name: string): boolean {
  let hash = 0x811c9dc5
  for (const character of familyOf(name))
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return (hash ^ (hash >>> 15)) % 3 === 0
}
