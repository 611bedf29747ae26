import { sha256Hex } from '../../contract/sha256.ts'
import type { FlowRoot } from '../../ports/durable.ts'
import type { RunningFlow } from './local-flow.ts'

/** A workflow that runs in this process. */
export type Running = RunningFlow & {
  readonly name: string
  readonly version: string
  readonly input: unknown
  readonly digest: string
  readonly startedMs: number
  readonly controller: AbortController
  result: Promise<unknown>
  /** Resolves when it does nothing any more; one that was stopped may still put things away after its end. */
  left: Promise<void>
  /** Resolves when its end is written, or it was left for the next daemon. */
  ended: Promise<void>
}

/** The phase of what belongs to none. */
export const firstPhase = 'begin'

/** Where the facts of a whole workflow belong. */
export const rootOf = ({ at, spanId, id }: Running, phase = firstPhase): FlowRoot => ({
  ...at,
  spanId,
  workflowId: id,
  phase,
})

/** What an input is compared by. */
export const digestOf = (input: unknown): string => sha256Hex(JSON.stringify(input) ?? '')
