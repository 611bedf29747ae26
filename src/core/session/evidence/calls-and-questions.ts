import type { Signal, SignalOf } from '../../../contract/signal.ts'
import { bounds, newer, newest, type Sighting, shortText, timeOf } from './evidence.ts'

/** A tool call: either of its two ends may be unknown. */
export type Call = {
  readonly callId: string
  readonly tool?: string
  /** The subagent that made it; nothing for the session itself. */
  readonly agent?: string
  /** Tells two calls of one tool apart by their input. */
  readonly inputHash?: string
  readonly start?: Sighting
  readonly end?: Sighting
  readonly isFailed?: boolean
}

/** The calls after one more of their ends was seen. */
export function withCall(
  calls: readonly Call[],
  signal: SignalOf<'tool-start'> | SignalOf<'tool-end'>,
): readonly Call[] {
  const callId = shortText(signal.callId)
  const before = calls.find((call) => call.callId === callId) ?? { callId }
  const sighting: Sighting = { at: signal.at, source: signal.source }
  const inputHash = signal.kind === 'tool-start' ? hashOfInput(signal.input) : undefined
  const start = signal.kind === 'tool-start' ? newer(before.start, sighting) : before.start
  const end = signal.kind === 'tool-end' ? newer(before.end, sighting) : before.end
  const call: Call = {
    ...before,
    ...(signal.tool !== undefined && { tool: smaller(before.tool, shortText(signal.tool)) }),
    ...(signal.agent !== undefined && { agent: smaller(before.agent, shortText(signal.agent)) }),
    ...(inputHash !== undefined && { inputHash: smaller(before.inputHash, inputHash) }),
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

/** A short hash of a tool's input; the same input gives the same one. */
function hashOfInput(input: unknown): string | undefined {
  const text = textOf(input)
  if (text === undefined) return undefined
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  return hash.toString(16).padStart(8, '0')
}

// Foreign input may hold what JSON cannot say; a call without a hash is matched by its tool alone.
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
const subagentOf = (signal: Signal): string | undefined =>
  signal.agent === undefined || signal.agent === '' ? undefined : shortText(signal.agent)

/** Something a person was asked. Whether it is still open is judged later: nothing here is ever taken back. */
export type Ask = Sighting & {
  readonly ask: 'permission' | 'question' | 'plan'
  readonly tool?: string
  readonly callId?: string
  readonly inputHash?: string
  readonly agent?: string
  /** Whether a screen without a dialog says nothing of it. */
  readonly isUnseen?: boolean
}

/** The asks after one more, or the answers after one more; a repeated one counts from its latest mention. */
export function withAsk(
  asks: readonly Ask[],
  signal: SignalOf<'asking'> | SignalOf<'answered'>,
): readonly Ask[] {
  const inputHash = hashOfInput(signal.input)
  const agent = subagentOf(signal)
  const ask: Ask = {
    at: signal.at,
    source: signal.source,
    ask: signal.ask,
    ...(signal.tool !== undefined && { tool: shortText(signal.tool) }),
    ...(signal.callId !== undefined && { callId: shortText(signal.callId) }),
    ...(inputHash !== undefined && { inputHash }),
    ...(agent !== undefined && { agent }),
    ...(signal.kind === 'asking' && signal.isUnseen && { isUnseen: true }),
  }
  const same = asks.find((other) => keyOf(other) === keyOf(ask))
  const rest = asks.filter((other) => other !== same)
  return newest([...rest, newer(same, ask)], bounds.asks, { at: (one) => one.at, key: keyOf })
}

/** Whether an ask was answered from outside after it was last asked. */
export const isAnswered = (ask: Ask, answers: readonly Ask[]): boolean =>
  answers.some((answer) => answer.at >= ask.at && keyOf(answer) === keyOf(ask))

const keyOf = ({ agent, ask, callId, tool, inputHash }: Ask): string =>
  JSON.stringify([agent ?? '', ask, callId ?? '', tool ?? '', callId === undefined ? (inputHash ?? '') : ''])

/** A subagent of the CLI itself: its beginning, its end and its last sign of life may each be unknown. */
export type Subagent = {
  readonly agentId: string
  readonly start?: Sighting
  readonly end?: Sighting
  readonly seen: Sighting
}

/** The subagents after a signal that is about one of them. */
export function withSubagent(agents: readonly Subagent[], signal: Signal): readonly Subagent[] {
  const named = signal.kind === 'subagent-start' || signal.kind === 'subagent-end'
  const agentId = named ? shortText(signal.agentId) : subagentOf(signal)
  if (agentId === undefined) return agents
  const sighting: Sighting = { at: signal.at, source: signal.source }
  const before = agents.find((agent) => agent.agentId === agentId)
  const start = signal.kind === 'subagent-start' ? newer(before?.start, sighting) : before?.start
  const end = signal.kind === 'subagent-end' ? newer(before?.end, sighting) : before?.end
  const agent: Subagent = {
    agentId,
    ...(start && { start }),
    ...(end && { end }),
    seen: newer(before?.seen, sighting),
  }
  return newest([...agents.filter((other) => other.agentId !== agentId), agent], bounds.agents, {
    at: (one) => one.seen.at,
    key: (one) => one.agentId,
  })
}
