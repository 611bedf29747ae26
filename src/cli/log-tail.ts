import { readFileSync, statSync } from 'node:fs'

/** How much of a file there is now, so that later only what came after is shown. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** The last lines that were written to a log after a position. */
export function logTail(file: string, from: number): string {
  const text = readFileSync(file).subarray(from).toString('utf8').trimEnd()
  return text === '' ? '(it wrote nothing)' : text.split('\n').slice(-20).join('\n')
}
