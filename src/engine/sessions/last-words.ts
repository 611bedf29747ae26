import type { Signal } from '../../contract/signal.ts'

/** What an agent said last, as its record has it; one message may stand there in several pieces. */
export class LastWords {
  #messageId: string | undefined
  #text = ''

  get text(): string {
    return this.#text
  }

  note(signal: Signal): void {
    if (signal.kind !== 'text' || signal.source !== 'transcript' || signal.agent !== undefined) return
    const isSame = signal.messageId !== undefined && signal.messageId === this.#messageId
    this.#text = isSame ? `${this.#text}\n${signal.text}` : signal.text
    this.#messageId = signal.messageId
  }
}
