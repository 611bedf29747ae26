import type { Signal, SignalOf, SignalSource } from '../../contract/signal.ts'

/** A receipt is looked for among so many of the last texts. */
const most = 32

/** A text that the CLI took: as a prompt, into its own queue, or from a hook. */
export type TakenText = { readonly at: number; readonly text: string; readonly source: SignalSource }

/** What a CLI says that it took: the receipts of what was given to it. */
export class TakenTexts {
  #last: readonly TakenText[] = []
  #prompt: TakenText | undefined
  #hasRecord = false

  /** Oldest first. */
  get list(): readonly TakenText[] {
    return this.#last
  }

  /** The prompt that the CLI works on or worked on last. */
  get prompt(): TakenText | undefined {
    return this.#prompt
  }

  /** Whether anything of its record was read since it is followed. */
  get hasRecord(): boolean {
    return this.#hasRecord
  }

  note(signal: Signal): void {
    if (signal.source === 'transcript') this.#hasRecord = true
    if (signal.agent !== undefined || !isText(signal) || signal.text === undefined) return
    const taken = { at: signal.at, text: signal.text, source: signal.source }
    this.#last = [...this.#last, taken].slice(-most)
    if (signal.kind === 'prompt' && taken.at >= (this.#prompt?.at ?? 0)) this.#prompt = taken
  }
}

const isText = (signal: Signal): signal is SignalOf<'prompt' | 'prompt-queued' | 'injected'> =>
  signal.kind === 'prompt' || signal.kind === 'prompt-queued' || signal.kind === 'injected'
