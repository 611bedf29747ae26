import type { Signal } from '../../contract/signal.ts'
import { tokenTotal } from '../../core/ledger/model-usage.ts'

/** How long a turn takes and what its answers use, as the record of the CLI tells it; one told again counts once. */
export class TurnUse {
  #sinceMs: number | undefined
  readonly #tokens = new Map<string, number>()

  constructor(sinceMs: number | undefined) {
    this.#sinceMs = sinceMs
  }

  begin(atMs: number): void {
    this.#sinceMs = atMs
    this.#tokens.clear()
  }

  /** A record is read again from its beginning after a restart: what is older belongs to other turns. */
  note(signal: Signal): void {
    if (signal.kind === 'usage' && this.#sinceMs !== undefined && signal.at >= this.#sinceMs)
      this.#tokens.set(signal.responseId, tokenTotal(signal.usage))
  }

  /** What is known of it at its end; nothing stands where nothing was told. */
  until(atMs: number): { readonly tokens?: number; readonly durationMs?: number } {
    const tokens = [...this.#tokens.values()]
    return {
      ...(tokens.length > 0 && { tokens: tokens.reduce((sum, each) => sum + each) }),
      ...(this.#sinceMs !== undefined && { durationMs: Math.max(0, atMs - this.#sinceMs) }),
    }
  }
}
