import type { ScreenRules } from './screen-rules.ts'

/** The box where prompts are typed, and the lines that enclose it. */
export type Box = {
  readonly top: number
  readonly bottom: number
  readonly mode: string
  readonly text: string
}

/** Finds the lowest box on the screen. Its lines keep their breaks, where they were typed and where they were wrapped. */
export function findBox(lines: readonly string[], rules: ScreenRules): Box | undefined {
  for (let first = lines.length - 2; first > 0; first--) {
    const found = rules.box.exec(lines[first] ?? '')?.groups
    if (!found || !rules.parting.test((lines[first - 1] ?? '').trimEnd())) continue
    const bottom = lines.findIndex((line, i) => i > first && rules.boxEnd.test(line.trimEnd()))
    if (bottom < 0) continue
    const rest = lines.slice(first + 1, bottom).map((line) => line.replace(/^ {1,2}/, '').trimEnd())
    const text = [(found['text'] ?? '').trimEnd(), ...rest].join('\n').trimEnd()
    return { top: first - 1, bottom, mode: found['mode'] ?? '', text }
  }
  return undefined
}
