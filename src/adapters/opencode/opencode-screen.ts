import { told } from '../../contract/formats/foreign-json.ts'
import type { Screen } from '../../contract/screen.ts'
import type { Composer, Dialog, ScreenReading } from '../../contract/signal.ts'
import { type DialogRule, dialogKind, rulesFor } from '../system/screen-dialogs.ts'

/** Reads OpenCode's screen: the box ends in a bar of the same width, and a column of facts may be beside it. */
export function openCodeScreen(screen: Screen, version: string): ScreenReading {
  const rules = rulesFor(openCodeScreenRules, version)
  const { lines } = screen
  const floor = lines.findLastIndex((line) => /^ *╹▀+/.test(line))
  const box = floor < 0 ? undefined : boxAbove(lines, floor)
  const dialog = box ? undefined : dialogOn(lines, rules)
  const below = box ? lines.slice(floor + 1) : []
  const attempt = below.map((line) => rules.retry.exec(line)?.[1]).find((found) => found !== undefined)
  const queued = lines.filter((line) => rules.queued.test(line)).length
  return {
    composer: box ? composerOf(box, rules) : { state: 'none' },
    isWorking: below.some((line) => rules.working.test(line)),
    ...told({
      isArmed: below.some((line) => rules.armed.test(line)) ? true : undefined,
      dialog,
      retry: attempt !== undefined ? { attempt: Number(attempt) } : undefined,
      queued: queued > 0 ? queued : undefined,
    }),
  }
}

/** The text of the box: the last line in it names agent and model. */
function boxAbove(lines: readonly string[], floor: number): readonly string[] {
  const bar = lines[floor] ?? ''
  const [from, to] = [bar.indexOf('╹') + 1, bar.lastIndexOf('▀') + 1]
  const side = `${' '.repeat(from - 1)}┃`
  let top = floor
  while (top > 0 && lines[top - 1]?.startsWith(side)) top--
  return lines.slice(top, floor - 1).map((line) => line.slice(from, to).trim())
}

function composerOf(box: readonly string[], { placeholder }: OpenCodeScreenRules): Composer {
  const text = box.join('\n').trim()
  return text === '' || placeholder.test(text) ? { state: 'empty' } : { state: 'text', text }
}

/** Choices are side by side or, for questions, numbered; only colour shows which one is chosen. */
function dialogOn(lines: readonly string[], rules: OpenCodeScreenRules): Dialog | undefined {
  const kind = dialogKind(lines, rules.dialogs)
  if (!kind) return undefined
  // After three spaces comes the next choice, or what is beside the dialog.
  const inside = lines.flatMap((line) => /^ *┃(.*)$/.exec(line)?.[1]?.trim().split(/ {3,}/) ?? [])
  if (kind.kind === 'question') return question(inside)
  const row = lines.findLast((line) => /^ *┃ {2,}\S.* {2,}.*enter confirm/.test(line)) ?? ''
  const options = row
    .replace(/^ *┃/, '')
    .split(/ {3,}/)
    .map((option) => option.trim())
    .filter((option) => option !== '' && !/^(ctrl|⇆|enter|esc)/.test(option))
  return { kind: kind.kind, title: kind.title.replace(/^△ /, ''), options }
}

function question(inside: readonly string[]): Dialog {
  const first = inside.findLastIndex((text) => text.startsWith('1. '))
  const options = inside.slice(Math.max(0, first)).flatMap((text) => /^\d+\. (.+)$/.exec(text)?.[1] ?? [])
  const title = inside.slice(0, Math.max(0, first)).findLast((text) => text !== '') ?? ''
  return { kind: 'question', title, options }
}

/** What OpenCode shows, as data: each new version that looks different gets its own entry. */
type OpenCodeScreenRules = {
  readonly placeholder: RegExp
  readonly working: RegExp
  readonly armed: RegExp
  readonly retry: RegExp
  readonly queued: RegExp
  readonly dialogs: readonly DialogRule[]
}

const openCodeScreenRules: readonly (readonly [since: string, rules: OpenCodeScreenRules])[] = [
  [
    '1.18.33',
    {
      placeholder: /^Ask anything/,
      working: /\besc (again to )?interrupt\b/,
      armed: /\besc again to interrupt\b/,
      retry: /\[retrying attempt #(\d+)\]/,
      queued: /\bQUEUED\b/,
      dialogs: [
        { kind: 'permission', says: /△ (Permission required|Always allow|Reject permission)/ },
        { kind: 'question', says: /enter (submit|confirm|toggle).*esc dismiss/ },
      ],
    },
  ],
]
