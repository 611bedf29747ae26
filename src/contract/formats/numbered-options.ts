import type { Dialog } from '../signal.ts'

/** A dialog's numbered choices as they stand on the screen. */
export type NumberedOptions = Pick<Dialog, 'options' | 'selected'> & {
  /** The line of the first choice. */
  readonly from: number
}

/**
 * Finds the last list of choices `1. … 2. …` on a screen, the chosen one marked by `mark`. A list that does not
 * begin with 1, or without a mark, is text of the conversation and no dialog.
 */
export function numberedOptions(lines: readonly string[], mark: string): NumberedOptions | undefined {
  const option = new RegExp(`^[\\s│┃]*(${mark})?\\s*(\\d+)\\.\\s+(.*?)[\\s│┃]*$`)
  const found = lines.flatMap((line, at) => {
    const match = option.exec(line)
    return match ? [{ at, isMarked: match[1] !== undefined, n: Number(match[2]), label: match[3] ?? '' }] : []
  })
  const first = found.findLastIndex(({ n }) => n === 1)
  const list = first < 0 ? [] : found.slice(first).filter(({ n }, i) => n === i + 1)
  const selected = list.findIndex(({ isMarked }) => isMarked)
  const from = list[0]?.at
  if (from === undefined || selected < 0) return undefined
  // What follows two spaces is the explanation of a choice, in a column of its own.
  return { from, selected, options: list.map(({ label }) => label.split(/\s{2,}/, 1)[0] ?? label) }
}
