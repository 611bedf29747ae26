import type { Signal, SignalOf } from '../../../contract/signal.ts'
import { bounds, line, newest } from './bounds.ts'
import { type Mark, newer, timeOf } from './mark.ts'

/** A tool call: either of its two ends may be unknown. */
export type Call = {
  readonly callId: string
  readonly tool?: string
  /** The subagent that made it; nothing for the session itself. */
  readonly agent?: string
  /** Tells two calls of one tool apart by their input. */
  readonly print?: string
  readonly start?: Mark
  readonly end?: Mark
  readonly isFailed?: boolean
}

/** The calls after one more of their ends was seen. */
export function withCall(
  calls: readonly Call[],
  signal: SignalOf<'tool-start'> | SignalOf<'tool-end'>,
): readonly Call[] {
  const callId = line(signal.callId)
  const before = calls.find((call) => call.callId === callId) ?? { callId }
  const mark: Mark = { at: signal.at, source: signal.source }
  const print = signal.kind === 'tool-start' ? printOf(signal.input) : undefined
  const start = signal.kind === 'tool-start' ? newer(before.start, mark) : before.start
  const end = signal.kind === 'tool-end' ? newer(before.end, mark) : before.end
  const call: Call = {
    ...before,
    ...(signal.tool !== undefined && { tool: smaller(before.tool, line(signal.tool)) }),
    ...(signal.agent !== undefined && { agent: smaller(before.agent, line(signal.agent)) }),
    ...(print !== undefined && { print: smaller(before.print, print) }),
    ...(start && { start }),
    ...(end && { end }),
    ...((before.isFailed || (signal.kind === 'tool-end' && !signal.ok)) && { isFailed: true }),
  }
  return newest([...calls.filter((other) => other.callId !== callId), call], bounds.calls, {
    at: lastSeen,
    key: (one) => one.callId,
  })
}

// Two sources tell the start of one call at slightly different times; a CLI without ids may use one again.
const sameStartMs = 250

/** Whether a call has begun and not ended, as far as its own two ends tell. */
export const isOpen = ({ start, end }: Call): boolean =>
  start !== undefined && (end === undefined || start.at > end.at + sameStartMs)

const lastSeen = (call: Call): number => Math.max(timeOf(call.start), timeOf(call.end))

/** A short print of a tool's input; the same input gives the same one. */
export function printOf(input: unknown): string | undefined {
  const text = textOf(input)
  if (text === undefined) return undefined
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  return hash.toString(16).padStart(8, '0')
}

// Foreign input may hold what JSON cannot say; a call without a print is matched by its tool alone.
function textOf(input: unknown): string | undefined {
  try {
    return JSON.stringify(input)?.slice(0, bounds.text)
  } catch {
    return undefined
  }
}

/** Sources may disagree on a detail; which of them came first must not matter. */
const smaller = (a: string | undefined, b: string): string => (a === undefined || b < a ? b : a)

/** The agent of a signal, when it is about a subagent. */
export const agentOf = (signal: Signal): string | undefined =>
  signal.agent === undefined || signal.agent === '' ? undefined : line(signal.agent)
