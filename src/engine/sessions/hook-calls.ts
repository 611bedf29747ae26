import type { Signal, SignalOf } from '../../contract/signal.ts'

const turnEnds = new Set<Signal['kind']>(['prompt', 'turn-end', 'turn-failed', 'interrupted'])
const most = 200

/**
 * What hooks told of the calls of the present turn. The record is written later than hooks tell, and is what counts;
 * at the end of a turn or a session it may not have the last of them yet.
 */
export class HookCalls {
  readonly #running = new Map<string, SignalOf<'tool-start'>>()
  readonly #ended = new Map<string, SignalOf<'tool-end'>>()

  notice(signal: Signal): void {
    if (signal.agent !== undefined) return
    if (turnEnds.has(signal.kind)) this.#running.clear()
    if (signal.kind === 'prompt') this.#ended.clear()
    if (signal.kind === 'tool-end') this.#running.delete(signal.callId)
    if (signal.source !== 'hook') return
    if (signal.kind === 'tool-start') keep(this.#running, signal)
    if (signal.kind === 'tool-end') keep(this.#ended, signal)
  }

  running(): readonly SignalOf<'tool-start'>[] {
    return [...this.#running.values()]
  }

  endOf(callId: string): SignalOf<'tool-end'> | undefined {
    return this.#ended.get(callId)
  }
}

function keep<S extends { readonly callId: string }>(calls: Map<string, S>, signal: S): void {
  calls.set(signal.callId, signal)
  const oldest = calls.size > most ? calls.keys().next().value : undefined
  if (oldest !== undefined) calls.delete(oldest)
}
