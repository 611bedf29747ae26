import type { Evidence } from './evidence.ts'

/** Whether the last turn was broken off, by a person or with its program, and nothing was begun since. */
export function isCutOff({ marks }: Evidence): boolean {
  const { interrupted, prompt, 'turn-end': end } = marks
  return interrupted !== undefined && interrupted.at >= Math.max(prompt?.at ?? 0, end?.at ?? 0)
}
