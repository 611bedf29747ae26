import type * as z from 'zod'
import type { SignalSource } from '../../../contract/signal.ts'
import type { Activity, Lifecycle } from '../../../contract/values.ts'

/** Whether the state can be relied on, and what is wrong with the session. */
export type Health = 'ok' | 'stale' | 'stuck' | 'retrying' | 'limited' | 'gone' | 'crashed'

/** What a session that does not work waits for. `dialog` is one of the program itself: trust, login, notice. */
export type WaitingFor = 'permission' | 'question' | 'plan' | 'dialog' | 'background' | 'limit'

/** One sign that a judgement rests on. */
export type Reason = {
  readonly signal: string
  readonly source: SignalSource
  readonly ageMs: number
  /** From 0 to 1: how much its source is believed, less when it is old. */
  readonly weight: number
  readonly says: string
}

/** The conclusion, without what it rests on. Whether the work is complete is not among it. */
export type State = {
  readonly lifecycle: Extract<Lifecycle, 'starting' | 'running' | 'waiting_input' | 'idle' | 'error'>
  readonly activity: z.infer<typeof Activity>
  readonly waitingFor?: WaitingFor
  /** When what it waits for is over; only when somebody told. */
  readonly waitingUntil?: number
  readonly health: Health
}

/** A state with its reasons, and when it stops holding by itself. */
export type Verdict = State & {
  readonly confidence: 'high' | 'medium' | 'low'
  /** Since when it has been so, as far as is known. */
  readonly since?: number
  /** The most weighty first. */
  readonly because: readonly Reason[]
  /** Without any further signal the verdict becomes `becomes` at this time. */
  readonly until?: number
  readonly becomes?: State
}
