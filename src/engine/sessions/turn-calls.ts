import type { Signal, SignalOf } from '../../contract/signal.ts'

const turnEnds = new Set<Signal['kind']>(['prompt', 'turn-end', 'turn-failed', 'interrupted'])
const most = 200

/** The calls of the present turn, as hooks and the record told of them. */
export class TurnCalls {
  readonly #running = new Map<string, SignalOf<'tool-start'>>()
  readonly #ended = new Map<string, SignalOf<'tool-end'>>()

  notice(signal: Signal): void {
    if (signal.kind === 'tool-start') keep(this.#running, signal)
    if (signal.kind === 'tool-end') this.#running.delete(signal.callId)
    if (signal.agent !== undefined) return
    if (turnEnds.has(signal.kind)) for (const { callId } of this.#own()) this.#running.delete(callId)
    if (signal.kind === 'prompt') this.#ended.clear()
    if (signal.kind === 'tool-end' && signal.source === 'hook') keep(this.#ended, signal)
  }

  /** Those that have begun and not ended, of its subagents too. */
  running(): readonly SignalOf<'tool-start'>[] {
    return [...this.#running.values()]
  }

  /** The record is written later than hooks tell, and is what counts: what it does not have yet. */
  unwritten(): readonly SignalOf<'tool-start'>[] {
    return this.#own().filter(({ source }) => source === 'hook')
  }

  /** How a call ended by the word of a hook: at the end of a turn or a session the record may not have that yet. */
  endOf(callId: string): SignalOf<'tool-end'> | undefined {
    return this.#ended.get(callId)
  }

  #own(): readonly SignalOf<'tool-start'>[] {
    return this.running().filter(({ agent }) => agent === undefined)
  }
}

function keep<S extends { readonly callId: string }>(calls: Map<string, S>, signal: S): void {
  calls.set(signal.callId, signal)
  const oldest = calls.size > most ? calls.keys().next().value : undefined
  if (oldest !== undefined) calls.delete(oldest)
}
