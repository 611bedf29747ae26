import type { Screen } from '../../../contract/screen.ts'
import type { Composer, ScreenReading } from '../../../contract/signal.ts'
import { type Box, findBox } from './box.ts'
import { findDialog } from './dialog.ts'
import { present } from './present.ts'
import { rulesFor, type ScreenRules } from './screen-rules.ts'
import { withoutSidePanel } from './side-panel.ts'

/** What the visible screen shows. */
export function readClaudeScreen(screen: Screen, version: string): ScreenReading {
  const rules = rulesFor(version)
  const start = Math.max(0, screen.lines.length - screen.height)
  const visible = withoutSidePanel(screen.lines.slice(start))
  const box = findBox(visible, rules)
  // The blank that only the box uses matters no more.
  const lines = visible.map((line) => line.replaceAll('\u00a0', ' ').trimEnd())
  const dialog = box ? undefined : findDialog(lines, rules)
  const retry = dialog ? undefined : retryIn(lines, rules)
  const queued = queuedIn(lines, box, rules)
  const { x, y } = screen.cursor
  return {
    composer: box ? composerOf(box, rules, { x, y: y - start }) : { state: 'none' },
    // Prompts wait only behind one that is being worked on.
    isWorking: !dialog && (retry !== undefined || queued !== undefined || isWorking(lines, box, rules)),
    ...present({
      dialog,
      retry: retry?.retry,
      limit: limitIn(lines, rules),
      error: retry?.error ?? firstMatch(sincePrompt(lines, rules), rules.error),
      queued,
    }),
  }
}

/** The column where the text of the box begins. */
const textColumn = 2

function composerOf(box: Box, rules: ScreenRules, cursor: { x: number; y: number }): Composer {
  // In shell mode whatever is typed runs as a command, so that even an empty box is not ours to type into.
  if (box.mode === '!') return { state: 'text', text: `!${box.text}` }
  const isAtStart = cursor.y === box.top + 1 && cursor.x <= textColumn
  const isHint = isAtStart && rules.placeholders.some((pattern) => pattern.test(box.text))
  return box.text === '' || isHint ? { state: 'empty' } : { state: 'text', text: box.text }
}

function isWorking(lines: readonly string[], box: Box | undefined, rules: ScreenRules): boolean {
  const [above, below] = box ? [lines.slice(0, box.top), lines.slice(box.bottom + 1)] : [lines, []]
  // After a paste another hint takes the place of the first sign for a while.
  return (
    below.some((line) => rules.interruptible.test(line)) || above.some((line) => rules.working.test(line))
  )
}

function retryIn(lines: readonly string[], rules: ScreenRules) {
  const found = lines.map((line) => rules.retry.exec(line)?.groups).findLast((groups) => groups !== undefined)
  if (!found) return undefined
  const of = found['of'] === undefined ? undefined : Number(found['of'])
  return { retry: { attempt: Number(found['attempt']), ...present({ of }) }, error: found['error'] }
}

function limitIn(lines: readonly string[], rules: ScreenRules): { text: string } | undefined {
  const text = firstMatch(sincePrompt(lines, rules), rules.limit)
  return text === undefined ? undefined : { text }
}

/** What stands below the last prompt: what is above it is of the past. */
function sincePrompt(lines: readonly string[], { prompt }: ScreenRules): readonly string[] {
  return lines.slice(lines.findLastIndex((line) => prompt.test(line)) + 1)
}

function firstMatch(lines: readonly string[], patterns: readonly RegExp[]): string | undefined {
  for (const line of lines)
    for (const pattern of patterns) {
      const found = pattern.exec(line)?.[1]
      if (found !== undefined) return found
    }
  return undefined
}

/** How many prompts wait; undefined when the box does not say that any do. */
function queuedIn(
  lines: readonly string[],
  box: Box | undefined,
  { queued, placeholders }: ScreenRules,
): number | undefined {
  if (!box || placeholders[0]?.test(box.text) !== true) return undefined
  const { each, end, turnEnd } = queued
  const above = lines.slice(0, box.top)
  const last = end ? above.findLastIndex((line) => end.test(line)) : above.length
  const list = above.slice(0, Math.max(0, last)).toReversed()
  // Blank lines and the further lines of a prompt stand between them; anything else is above the list.
  const before = list.find((line) => line !== '' && !each.test(line) && !/^ {2,}[^ ⎿]/.test(line))
  const shown = list.slice(0, before === undefined ? list.length : list.indexOf(before))
  const running = before !== undefined && turnEnd?.test(before) ? 1 : 0
  return Math.max(1, shown.filter((line) => each.test(line)).length - running)
}
