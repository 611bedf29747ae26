import type { SignalOf } from '../../../contract/signal.ts'
import { bounds, line, newest } from './bounds.ts'
import { agentOf, printOf } from './calls.ts'
import { type Mark, newer } from './mark.ts'

/** Something a person was asked. Whether it still is, is judged: nothing here is ever taken back. */
export type Ask = Mark & {
  readonly ask: 'permission' | 'question' | 'plan'
  readonly tool?: string
  readonly callId?: string
  readonly print?: string
  readonly agent?: string
  /** Whether a screen without a dialog says nothing of it. */
  readonly isUnseen?: boolean
}

/** The asks after one more, or the answers after one more; a repeated one counts from its latest mention. */
export function withAsk(
  asks: readonly Ask[],
  signal: SignalOf<'asking'> | SignalOf<'answered'>,
): readonly Ask[] {
  const print = printOf(signal.input)
  const agent = agentOf(signal)
  const ask: Ask = {
    at: signal.at,
    source: signal.source,
    ask: signal.ask,
    ...(signal.tool !== undefined && { tool: line(signal.tool) }),
    ...(signal.callId !== undefined && { callId: line(signal.callId) }),
    ...(print !== undefined && { print }),
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

const keyOf = ({ agent, ask, callId, tool, print }: Ask): string =>
  JSON.stringify([agent ?? '', ask, callId ?? '', tool ?? '', callId === undefined ? (print ?? '') : ''])
