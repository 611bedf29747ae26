import type { CorpusCase } from '../corpus-case.ts'
import { asks } from './claude-asks.ts'
import { background } from './claude-background.ts'
import { escapes } from './claude-escapes.ts'
import { piTurns } from './pi-turns.ts'
import { realCases } from './real.ts'
import { casesOf } from './recording.ts'
import { refusals } from './refused.ts'

/** All cases of recorded sessions. */
export const recorded: readonly CorpusCase[] = [
  ...[asks, background, escapes, piTurns, ...refusals].flatMap(casesOf),
  ...realCases(),
]
