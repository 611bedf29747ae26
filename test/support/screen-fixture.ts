import { readFileSync } from 'node:fs'
import type { Screen } from '../../src/contract/screen.ts'
import type { Signal } from '../../src/contract/signal.ts'
import type { TranscriptContext } from '../../src/ports/agent-cli.ts'

/** A screen kept in a file: the first line is what is not text, the others are the rows from the top. */
export function screenFixture(file: URL): Screen {
  const [meta = '{}', ...rows] = readFileSync(file, 'utf8').replace(/\n$/, '').split('\n')
  const { width, height, cursor, title } = JSON.parse(meta) as Omit<Screen, 'lines' | 'isInMode'>
  const blank = Array.from({ length: Math.max(0, height - rows.length) }, () => '')
  return { lines: [...rows, ...blank], width, height, cursor, title, isInMode: false }
}

/** Everything that a transcript in a file tells, read line by line. */
export function signalsOf(
  file: URL,
  line: (line: string, context: TranscriptContext) => readonly Signal[],
  agent?: string,
): Signal[] {
  const context = { memory: {}, ...(agent !== undefined && { agent }) }
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((text) => text !== '')
    .flatMap((text) => line(text, context))
}

/** The signals of one kind. */
export const ofKind = <K extends Signal['kind']>(signals: readonly Signal[], kind: K) =>
  signals.filter((signal): signal is Extract<Signal, { kind: K }> => signal.kind === kind)
