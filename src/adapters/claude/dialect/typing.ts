import type { Typing } from '../../../ports/agent-cli.ts'
import { isAtLeast } from './version.ts'

/** Older ones take an Enter that follows a paste too soon for a part of it. */
const quickSince = '2.1.325'

/** How text gets into Claude Code. */
export const typing = (version: string): Typing => ({
  submit: ['Enter'],
  interrupt: ['Escape'],
  // Once empties the box; twice within a second or two ends the program.
  clear: ['C-c'],
  settleMs: isAtLeast(version, quickSince) ? 120 : 400,
  marker: /\[(?:Pasted text|Image|\.\.\.Truncated text) #\d+(?: \+\d+ lines)?(?:\.\.\.)?\]/,
  quit: ['Escape'],
})
