import type { Typing } from '../../ports/agent-cli.ts'
import { isAtLeast } from '../system/run-program.ts'
import { typedText } from '../system/typed-text.ts'

/** Older ones take an Enter that follows a paste too soon for a part of it. */
const quickSince = '2.1.325'

/** How text gets into Claude Code. */
export const typing = (version: string): Typing => ({
  submit: ['Enter'],
  interrupt: ['Escape'],
  // Once empties the box; twice within a second or two ends the program.
  clear: ['C-c'],
  settleMs: isAtLeast(version, quickSince) ? 120 : 400,
  marker:
    /\[(?:Pasted text #\d+(?: \+(?<breaks>\d+) lines)?|Image #\d+|\.\.\.Truncated text #\d+ \+\d+ lines\.\.\.)\]/,
  quit: ['Escape'],
})

/** Makes a command or a shell line of what follows, also after blanks; some words end the program when nothing else is in the box. */
const commanding = /^([/!]|(exit|quit|:q!?|:wq!?)$)/

/** A message as it may be typed. */
export const harmless = (text: string): string => typedText(text, commanding)
