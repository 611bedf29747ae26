import { told } from '../../contract/formats/foreign-json.ts'
import type { Screen } from '../../contract/screen.ts'
import type { Composer, Dialog, ScreenReading } from '../../contract/signal.ts'
import { type DialogRule, rulesFor, type ScreenRules } from './claude-screen-rules.ts'

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
    ...told({
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
  return { retry: { attempt: Number(found['attempt']), ...told({ of }) }, error: found['error'] }
}

function limitIn(lines: readonly string[], rules: ScreenRules): { text: string } | undefined {
  const text = firstMatch(sincePrompt(lines, rules), rules.limit)
  return text === undefined ? undefined : { text }
}

/** What is below the last prompt; everything above it is past. */
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
  // Blank lines and further lines of a prompt are between them; anything else is above the list.
  const before = list.find((line) => line !== '' && !each.test(line) && !/^ {2,}[^ ⎿]/.test(line))
  const shown = list.slice(0, before === undefined ? list.length : list.indexOf(before))
  const running = before !== undefined && turnEnd?.test(before) ? 1 : 0
  return Math.max(1, shown.filter((line) => each.test(line)).length - running)
}

/** The box where prompts are typed, and the lines that enclose it. */
type Box = {
  readonly top: number
  readonly bottom: number
  readonly mode: string
  readonly text: string
}

/** Finds the lowest box on the screen. Its lines keep their breaks, where they were typed and where they were wrapped. */
function findBox(lines: readonly string[], rules: ScreenRules): Box | undefined {
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

const border = '│'

/**
 * The lines without the panel that newer versions draw at their right once files have changed. The box goes below it
 * from edge to edge; a dialog and the conversation are beside it.
 */
export function withoutSidePanel(lines: readonly string[]): readonly string[] {
  const column = /^.*(?=│ +✕ *$)/.exec(lines[0] ?? '')?.[0].length
  if (column === undefined) return lines
  // A wide character takes two columns but is one character, so the border may be further to the left.
  const at = lines.map((line) => line.lastIndexOf(border, column))
  const end = at.findIndex((place) => place < 0)
  return lines.map((line, i) => (end < 0 || i < end ? line.slice(0, at[i]).trimEnd() : line))
}

/** Finds the dialog that has taken the place of the box. */
function findDialog(lines: readonly string[], rules: ScreenRules): Dialog | undefined {
  for (const rule of rules.dialogs) {
    const at = lines.findLastIndex((line) => rule.has.test(line))
    const parting = lines.slice(0, Math.max(0, at)).findLastIndex((line) => rules.parting.test(line))
    // Without a line above it, it is something that was said.
    if (at < 0 || parting < 0) continue
    return {
      kind: rule.kind,
      title: titleOf(lines, { rule, at, parting }),
      ...(rule.kind === 'permission' && bodyOf(lines.slice(parting + 1, at))),
      ...optionsBelow(lines.slice(isFooter(rule) ? parting : at), rules),
      ...(rule.kind === 'question' && headingsOf(lines[at] ?? '', rules)),
    }
  }
  return undefined
}

type Found = { readonly rule: DialogRule; readonly at: number; readonly parting: number }

function titleOf(lines: readonly string[], { rule, at, parting }: Found): string {
  const from = rule.title === 'itself' ? at : rule.title === 'next' ? at + 1 : parting + 1
  const [title = '', more = ''] = lines
    .slice(from)
    .flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
  return column(title.endsWith(':') ? `${title} ${more}` : title)
}

/** Several questions are asked one after the other; the line above them names them all. */
function headingsOf(line: string, { heading }: ScreenRules): Pick<Dialog, 'headings'> {
  const headings = Array.from(line.matchAll(heading), ({ groups }) => groups?.['heading'] ?? '')
  return headings.length > 1 ? { headings } : {}
}

/** What is asked about is between the heading and the question; the lines around it only set it apart. */
function bodyOf(lines: readonly string[]): Pick<Dialog, 'body'> {
  const [, ...body] = lines.map((line) => line.trim()).filter((line) => line !== '' && !/^╌+$/.test(line))
  return body.length > 0 ? { body: body.join('\n') } : {}
}

/** Told by its last line, it has its options above it. */
const isFooter = ({ title, kind }: DialogRule): boolean => title === 'heading' && kind !== 'permission'

/** What is set apart by blanks is a remark. */
const column = (text: string): string => text.split(/ {2,}/)[0] ?? ''

type Options = Pick<Dialog, 'options' | 'selected' | 'isMany'>

function optionsBelow(lines: readonly string[], { numbered, pointed }: ScreenRules): Options {
  const options: string[] = []
  let selected: number | undefined
  let isMany: true | undefined
  for (const line of lines) {
    const found = numbered.exec(line)?.groups
    if (!found || Number(found['number']) !== options.length + 1) continue
    if (found['pointer']) selected = options.length
    if (found['check']) isMany = true
    options.push(column(found['label'] ?? ''))
  }
  return options.length > 0 ? { options, ...told({ selected, isMany }) } : unnumbered(lines, pointed)
}

/** Options without numbers: the one that is pointed at, and its neighbours that begin in the same column. */
function unnumbered(lines: readonly string[], pointed: RegExp): Options {
  const at = lines.findIndex((line) => pointed.test(line))
  const found = pointed.exec(lines[at] ?? '')?.groups
  if (!found) return { options: [] }
  const beside = new RegExp(`^ {${(found['indent'] ?? '').length + 2}}\\S`)
  const before = lines.slice(0, at).toReversed()
  const after = lines.slice(at + 1)
  const above = untilNot(before, beside).toReversed()
  const options = [...above, found['label'] ?? '', ...untilNot(after, beside)].map((line) => line.trim())
  return { options, selected: above.length }
}

function untilNot(lines: readonly string[], pattern: RegExp): readonly string[] {
  const end = lines.findIndex((line) => !pattern.test(line))
  return end < 0 ? lines : lines.slice(0, end)
}
