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

/** Reads Codex's screen. The visible cursor tells the box apart from a dialog, whose marker is the same. */
export function codexScreen(screen: Screen, version: string): ScreenReading {
  const rules = rulesFor(codexScreenRules, version)
  const lines = screen.lines.map((line) => line.trimEnd())
  const box = composerAt(screen, lines)
  const dialog = box === undefined ? dialogOn(lines, rules) : undefined
  const since = lines.slice(lastPrompt(lines, box?.from ?? lines.length) + 1)
  const retry = lastMatch(since, rules.retry)
  const error = since.findLast((line) => rules.error.test(line))
  const limit = since.findLast((line) => rules.limit.test(line))
  const isWorking =
    !dialog && (rules.workingTitle.test(screen.title) || since.some((line) => rules.working.test(line)))
  const header = since.findLastIndex((line) => rules.queueHeader.test(line))
  const queued = header < 0 ? 0 : since.slice(header).filter((line) => rules.queued.test(line)).length
  return {
    composer: composerOf(box, rules),
    isWorking,
    ...told({
      dialog,
      retry: isWorking && retry ? { attempt: Number(retry[1]), of: Number(retry[2]) } : undefined,
      limit: limit === undefined ? undefined : { text: rules.limit.exec(limit)?.[0] ?? limit },
      error: error === undefined || rules.interrupted.test(error) ? undefined : rules.error.exec(error)?.[1],
      queued: queued > 0 ? queued : undefined,
    }),
  }
}

type Box = { readonly from: number; readonly text: string }

function composerAt({ cursor }: Screen, lines: readonly string[]): Box | undefined {
  if (!cursor.isVisible) return undefined
  let from = Math.min(cursor.y, lines.length - 1)
  while (from > 0 && /^( {2}|$)/.test(lines[from] ?? '')) from--
  if (!/^›( |$)/.test(lines[from] ?? '')) return undefined
  const rest = lines.slice(from + 1)
  const end = rest.findIndex((line, i) => from + 1 + i > cursor.y && !/^ {2}\S/.test(line))
  const body = [lines[from] ?? '', ...rest.slice(0, end < 0 ? undefined : end)]
  return {
    from,
    text: body
      // A box that has scrolled says so at its right edge.
      .map((line) => line.slice(2).replace(/ {2,}[↑↓]$/, ''))
      .join('\n')
      .trim(),
  }
}

function composerOf(box: Box | undefined, { placeholders }: CodexScreenRules): Composer {
  if (!box) return { state: 'none' }
  if (box.text === '' || placeholders.includes(box.text)) return { state: 'empty' }
  return { state: 'text', text: box.text }
}

function dialogOn(lines: readonly string[], rules: CodexScreenRules): Dialog | undefined {
  const found = numberedOptions(lines, '›')
  if (!found) return undefined
  const kind = dialogKind(lines.slice(Math.max(0, found.from - 24), found.from), rules.dialogs)
  const title =
    kind?.title ??
    lines
      .slice(0, found.from)
      .findLast((line) => line.trim() !== '')
      ?.trim() ??
    ''
  // The key that chooses an option follows it in brackets.
  const options = found.options.map((option) => option.replace(/ \([a-z]+\)$/, ''))
  const head = lines.findLastIndex((line, at) => at < found.from && line.trim() === title)
  const body = lines
    .slice(head + 1, found.from)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
  const headings = headingsIn(title)
  return {
    kind: kind?.kind ?? 'menu',
    title,
    body,
    options,
    ...told({ selected: found.selected, headings }),
  }
}

/** Of several questions it is only said how many there are. */
function headingsIn(title: string): readonly string[] | undefined {
  const count = Number(/^Question \d+\/(\d+)/.exec(title)?.[1] ?? 1)
  return count > 1 ? Array.from({ length: count }, (_, at) => `Question ${at + 1}`) : undefined
}

/** The last prompt in the conversation; everything above it belongs to earlier turns. */
const lastPrompt = (lines: readonly string[], before: number): number =>
  lines.findLastIndex((line, at) => at < before && line.startsWith('› ') && !/^› \d+\. /.test(line))

const lastMatch = (lines: readonly string[], rule: RegExp): RegExpExecArray | undefined => {
  const line = lines.findLast((one) => rule.test(one))
  return line === undefined ? undefined : (rule.exec(line) ?? undefined)
}

/** What Codex shows, as data: each new version that looks different gets its own entry. */
type CodexScreenRules = {
  /** What the empty box shows. */
  readonly placeholders: readonly string[]
  readonly working: RegExp
  readonly workingTitle: RegExp
  readonly retry: RegExp
  readonly error: RegExp
  readonly interrupted: RegExp
  readonly limit: RegExp
  readonly queueHeader: RegExp
  readonly queued: RegExp
  readonly dialogs: readonly DialogRule[]
}

const codexScreenRules: readonly (readonly [since: string, rules: CodexScreenRules])[] = [
  [
    '0.166.0',
    {
      placeholders: ['Ask Codex to do anything'],
      working: /\(\d[\dhms ]* • esc to interrupt\)/,
      // While text streams in, the line with the clock is gone and only the spinner in the title is left.
      workingTitle: /^[\u2801-\u28ff] /,
      retry: /Reconnecting\.\.\. (\d+)\/(\d+)/,
      error: /^■ (.+)$/,
      interrupted: /^■ Conversation interrupted/,
      limit: /You've hit your usage limit.*/,
      queueHeader: /^• (Messages to be submitted|Queued)/,
      queued: /^ {2}↳ /,
      dialogs: [
        { kind: 'permission', says: /^ *(Would you like to|Do you want to approve|Allow )/ },
        { kind: 'question', says: /^ *Question \d+\/\d+/ },
        { kind: 'plan', says: /^ *Implement this plan\?/ },
        { kind: 'trust', says: /^ *(Folder access|Hooks need review)/ },
        { kind: 'login', says: /^ *(Sign in with|Welcome to Codex|Choose how you'd like to)/ },
        { kind: 'notice', says: /^ *(Update available|Warnings ·)/ },
      ],
    },
  ],
]

/** Which choice means which answer. A folder or hooks are trusted for good, so nothing but `always` does it. */
export const codexAnswerRules: readonly AnswerRule[] = [
  {
    dialog: ['permission'],
    verdict: 'allow',
    scope: 'session',
    option: /^Yes, and don't ask again.*session/,
  },
  { dialog: ['permission'], verdict: 'allow', scope: 'always', option: /^Yes, and don't ask again/ },
  { dialog: ['permission'], verdict: 'allow', option: /^Yes, (proceed|just this once)/ },
  { dialog: ['permission'], verdict: 'deny', option: /^No, / },
  { dialog: ['plan'], verdict: 'allow', option: /^Yes, implement this plan/ },
  { dialog: ['plan'], verdict: 'deny', option: /^No, stay in Plan mode/ },
  {
    dialog: ['trust'],
    verdict: 'allow',
    scope: 'always',
    option: /^(Trust and continue|Trust all and continue)/,
  },
  { dialog: ['trust'], verdict: 'deny', option: /^(Quit|Continue without trusting)/ },
]
