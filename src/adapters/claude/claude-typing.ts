import type { Typing } from '../../ports/agent-cli.ts'
import { isAtLeast } from '../system/run-program.ts'

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

/** Words that end the program when nothing else is in the box. */
const leaving = /^(exit|quit|:q!?|:wq!?)$/
/** Makes a command or a shell line of what follows, also after blanks. */
const commanding = /^[/!]/
const label = 'Message: '

/** Control characters but tab and newline; an escape among them would be a key press. */
const controls = /(?![\t\n])\p{Cc}/gu

/** A message as it may be typed: a plain word before what the CLI would take for a command, and no control characters. */
export function harmless(text: string): string {
  const clean = text.replaceAll(/\r\n?/g, '\n').replaceAll(controls, '').trimEnd()
  const start = clean.trimStart()
  const labelled = commanding.test(start) || leaving.test(start) ? `${label}${start}` : clean
  // A backslash would turn the Enter after it into a line break, and a file name being completed would swallow it.
  return /\\$|(^|\s)@\S*$/.test(labelled) ? `${labelled} ` : labelled
}
