import { told } from '../../../contract/formats/foreign-json.ts'
import type { Screen } from '../../../contract/screen.ts'
import type { Composer, Dialog, ScreenReading } from '../../../contract/signal.ts'
import { dialogKind, numberedOptions, rulesFor } from '../../system/screen-dialogs.ts'
import { type CodexScreenRules, codexScreenRules } from './screen-rules.ts'

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
      .map((line) => line.slice(2))
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
  // The key that chooses an option stands behind it in brackets.
  const options = found.options.map((option) => option.replace(/ \([a-z]+\)$/, ''))
  const head = lines.findLastIndex((line, at) => at < found.from && line.trim() === title)
  const body = lines
    .slice(head + 1, found.from)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
  return { kind: kind?.kind ?? 'menu', title, body, options, ...told({ selected: found.selected }) }
}

/** The last prompt in the conversation; what stands above it belongs to earlier turns. */
const lastPrompt = (lines: readonly string[], before: number): number =>
  lines.findLastIndex((line, at) => at < before && line.startsWith('› ') && !/^› \d+\. /.test(line))

const lastMatch = (lines: readonly string[], rule: RegExp): RegExpExecArray | undefined => {
  const line = lines.findLast((one) => rule.test(one))
  return line === undefined ? undefined : (rule.exec(line) ?? undefined)
}
