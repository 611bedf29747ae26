import { told } from '../../contract/formats/foreign-json.ts'
import type { Screen } from '../../contract/screen.ts'
import type { Composer, Dialog, ScreenReading } from '../../contract/signal.ts'
import {
  type AnswerRule,
  type DialogRule,
  dialogKind,
  numberedOptions,
  rulesFor,
} from '../system/screen-dialogs.ts'

/** Reads Gemini's screen. Its own cursor is drawn and the terminal's is hidden, so only the words tell. */
export function geminiScreen(screen: Screen, version: string): ScreenReading {
  const rules = rulesFor(geminiScreenRules, version)
  const lines = screen.lines.map((line) => line.trimEnd())
  const box = boxOn(lines, rules)
  const composer = box ? composerOf(lines.slice(box.from, box.to), rules) : ({ state: 'none' } as const)
  const dialog = composer.state === 'none' ? dialogOn(lines, rules) : undefined
  const since = lines.slice(lastPrompt(lines, box?.rule ?? lines.length) + 1)
  const isWorking =
    !dialog && (rules.workingTitle.test(screen.title) || since.some((line) => rules.working.test(line)))
  const retry = since.map((line) => rules.retry.exec(line)).findLast((match) => match !== null)
  const error = since.map((line) => rules.error.exec(line)?.[1]).findLast((text) => text !== undefined)
  const limit = error === undefined ? undefined : rules.limit.exec(error)?.[0]
  const queued = queuedIn(since, rules)
  return {
    composer,
    isWorking,
    ...told({
      dialog,
      retry: isWorking && retry ? { attempt: Number(retry[1]), of: Number(retry[2]) } : undefined,
      limit: limit === undefined ? undefined : { text: limit },
      error: isWorking ? undefined : error,
      queued: queued > 0 ? queued : undefined,
    }),
  }
}

/**
 * The box at the bottom, below a horizontal rule. Prompts of the conversation look the same but have no rule; where the
 * terminal has few colours the borders are blank lines.
 */
function boxOn(lines: readonly string[], { prompt }: GeminiScreenRules): Box | undefined {
  const rule = lines.findLastIndex((line) => /^─{20,}$/.test(line))
  const from = rule < 0 ? -1 : lines.findIndex((line, at) => at > rule && at < rule + 5 && prompt.test(line))
  if (from < 0) return undefined
  const border = lines.findIndex((line, at) => at > from && /^▀+$/.test(line))
  // A text has blank lines too, its own or of a row that the terminal took for longer; what follows the box has one blank before it.
  const below = lines.findIndex((line, at) => at > from && /^ \S/.test(line))
  const to = [border, below, lines.length].find((at) => at > from) ?? lines.length
  return { rule, from, to }
}

type Box = { readonly rule: number; readonly from: number; readonly to: number }

function composerOf(lines: readonly string[], { placeholder }: GeminiScreenRules): Composer {
  const text = lines.map((line, at) => (at === 0 ? line.slice(3) : line.replace(/^ {3}/, ''))).join('\n')
  if (text.trim() === '' || placeholder.test(text.trim())) return { state: 'empty' }
  return { state: 'text', text: text.trim() }
}

function dialogOn(lines: readonly string[], rules: GeminiScreenRules): Dialog | undefined {
  // The question of trust may appear below one that was asked before it; keys go to the upper one.
  const frame = lines.findIndex((line) => /^ ╭─+╮$/.test(line))
  const found = (frame > 0 && numberedOptions(lines.slice(0, frame), '●')) || numberedOptions(lines, '●')
  if (!found) return undefined
  const kind = dialogKind(lines.slice(0, found.from), rules.dialogs)
  const top = lines.findLastIndex((line, at) => at < found.from && /^╭─+╮$/.test(line))
  const above = lines
    .slice(top + 1, found.from)
    .map((line) => line.replaceAll(/[│╭╮╰╯─]/g, '').trim())
    .filter((line) => line !== '')
  return {
    kind: kind?.kind ?? 'menu',
    title: kind?.title ?? above.at(-1) ?? '',
    body: above.join('\n'),
    options: found.options.map((option) => option.replace(/ \(esc\)$/, '')),
    ...told({ selected: found.selected }),
  }
}

const lastPrompt = (lines: readonly string[], before: number): number =>
  lines.findLastIndex((line, at) => at < before && /^(▀+$| > \S)/.test(line))

function queuedIn(lines: readonly string[], { queueHeader }: GeminiScreenRules): number {
  const header = lines.findLastIndex((line) => queueHeader.test(line))
  if (header < 0) return 0
  const end = lines.findIndex((line, at) => at > header && !/^ {4}\S/.test(line))
  return (end < 0 ? lines.length : end) - header - 1
}

/** What Gemini shows, as data: each new version that looks different gets its own entry. */
type GeminiScreenRules = {
  readonly placeholder: RegExp
  /** The line of the box in which the text begins. */
  readonly prompt: RegExp
  readonly working: RegExp
  readonly workingTitle: RegExp
  readonly retry: RegExp
  readonly error: RegExp
  readonly limit: RegExp
  readonly queueHeader: RegExp
  readonly dialogs: readonly DialogRule[]
}

const geminiScreenRules: readonly (readonly [since: string, rules: GeminiScreenRules])[] = [
  [
    '0.61.0',
    {
      placeholder: /^\s*Type your message or @path\/to\/file$/,
      prompt: /^ [>!*] /,
      working: /\(esc to cancel, \d/,
      workingTitle: /^✦/,
      retry: /Attempt (\d+)\/(\d+)/,
      error: /^✕ (.+)$/,
      limit: /(quota|usage limit|rate limit).*/i,
      queueHeader: /^ {2}Queued \(press/,
      dialogs: [
        { kind: 'trust', says: /Do you trust the files in this folder\?/ },
        { kind: 'login', says: /How would you like to authenticate|Enter Gemini API Key/ },
        { kind: 'plan', says: /Ready to start implementation\?|Plan .*approv/i },
        {
          kind: 'permission',
          says: /^│ (Allow execution of|Apply this change\?|Do you want to proceed\?|Allow )/,
        },
        { kind: 'question', says: /^│ (Answer|Select|Choose)/ },
      ],
    },
  ],
]

/** Which choice means which answer. A folder is trusted for good, so nothing but `always` does it. */
export const geminiAnswerRules: readonly AnswerRule[] = [
  { dialog: ['permission'], verdict: 'allow', scope: 'session', option: /^Allow (.* )?for this session/ },
  {
    dialog: ['permission'],
    verdict: 'allow',
    scope: 'always',
    option: /^Allow (.* )?(for all future|always)/,
  },
  { dialog: ['permission'], verdict: 'allow', option: /^Allow once/ },
  { dialog: ['permission'], verdict: 'deny', option: /^No/ },
  { dialog: ['plan'], verdict: 'allow', option: /^Yes/ },
  { dialog: ['plan'], verdict: 'deny', option: /^No/ },
  { dialog: ['trust'], verdict: 'allow', scope: 'always', option: /^Trust folder/ },
  { dialog: ['trust'], verdict: 'deny', option: /^Don't trust/ },
]
