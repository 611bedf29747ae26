import type * as z from 'zod'
import type { SignalOf } from '../../contract/signal.ts'
import type { Tokens } from '../../contract/values.ts'

type Usage = z.infer<typeof Tokens>

const untoldMark = ':untold:'

/** Whether a call is the sum of those that a CLI did not write down. */
export const isUntoldCall = (responseId: string): boolean => responseId.includes(untoldMark)

const figures = ['input', 'output', 'cacheRead', 'cacheWrite'] as const

/**
 * Finds the calls that a CLI counts and does not write down, a compaction's above all: what its total for a conversation
 * has more than the calls of its record. They are one leaf of the ledger for each model, replaced by every later total.
 */
export class UntoldCalls {
  /** Calls that no total has been told for yet, and those of conversations that have one. */
  #since = new Map<string, SignalOf<'usage'>>()
  readonly #counted = new Map<string, readonly SignalOf<'usage'>[]>()

  used(signal: SignalOf<'usage'>): void {
    this.#since.set(signal.responseId, signal)
  }

  /** The calls that were not told, as if they had been. */
  of({ foreignId, models, kind: _kind, ...seen }: SignalOf<'totals'>): SignalOf<'usage'>[] {
    const told = [...(this.#counted.get(foreignId) ?? []), ...this.#since.values()]
    this.#counted.set(foreignId, told)
    this.#since = new Map()
    // An answer that was broken off is in the record and not in the total.
    const whole = told.filter(({ finishReason }) => finishReason !== undefined)
    return Object.entries(models).flatMap(([model, total]) => {
      const usage = rest(
        total,
        whole.filter((call) => call.model === model).map((call) => call.usage),
      )
      if (figures.every((name) => usage[name] === 0)) return []
      return [{ ...seen, kind: 'usage', responseId: `${foreignId}${untoldMark}${model}`, model, usage }]
    })
  }
}

const rest = (total: Usage, told: readonly Usage[]): Usage =>
  Object.fromEntries(
    figures.map((name) => {
      const sum = told.reduce((all, usage) => all + (usage[name] ?? 0), 0)
      return [name, Math.max(0, (total[name] ?? 0) - sum)]
    }),
  )
