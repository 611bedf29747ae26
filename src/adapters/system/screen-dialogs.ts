import type { Decision } from '../../contract/decision.ts'
import type { Dialog } from '../../contract/signal.ts'
import { isAtLeast } from './run-program.ts'

/** What a dialog is about, by the words on the screen above its choices. */
export type DialogRule = { readonly kind: Dialog['kind']; readonly says: RegExp }

/** The first rule that fits one of the lines, and that line as the dialog's title. */
export function dialogKind(
  lines: readonly string[],
  rules: readonly DialogRule[],
): { readonly kind: Dialog['kind']; readonly title: string } | undefined {
  for (const { kind, says } of rules) {
    const title = lines.findLast((line) => says.test(line))
    if (title !== undefined) return { kind, title: title.replaceAll(/[│┃╭╮╰╯]/g, '').trim() }
  }
  return undefined
}

/** The rules for a version: those of the newest one that is not newer, or the oldest known. */
export function rulesFor<T>(byVersion: readonly (readonly [since: string, rules: T])[], version: string): T {
  const [oldest] = byVersion
  if (!oldest) throw new RangeError('there are no rules at all')
  const fitting = byVersion.findLast(([since]) => isAtLeast(version, since))
  return (fitting ?? oldest)[1]
}

/** A dialog's numbered choices on the screen. */
type NumberedOptions = Pick<Dialog, 'options' | 'selected'> & {
  /** The line of the first choice. */
  readonly from: number
}

/**
 * Finds the last list of choices `1. … 2. …` on a screen, the chosen one marked by `mark`. A list that does not
 * begin with 1, or without a mark, is text of the conversation and no dialog.
 */
export function numberedOptions(lines: readonly string[], mark: string): NumberedOptions | undefined {
  const option = new RegExp(`^[\\s│┃]*(${mark})?\\s*(\\d+)\\.\\s+(.*?)[\\s│┃]*$`)
  const found = lines.flatMap((line, at) => {
    const match = option.exec(line)
    return match ? [{ at, isMarked: match[1] !== undefined, n: Number(match[2]), label: match[3] ?? '' }] : []
  })
  const first = found.findLastIndex(({ n }) => n === 1)
  const list = first < 0 ? [] : found.slice(first).filter(({ n }, i) => n === i + 1)
  const selected = list.findIndex(({ isMarked }) => isMarked)
  const from = list[0]?.at
  if (from === undefined || selected < 0) return undefined
  // After two spaces comes the explanation of a choice, in a separate column.
  return { from, selected, options: list.map(({ label }) => label.split(/\s{2,}/, 1)[0] ?? label) }
}

/** Which choice of a dialog means an answer; `option` fits its label. */
export type AnswerRule = {
  readonly dialog: readonly Dialog['kind'][]
  readonly verdict: Decision['verdict']
  /** Without one the rule is for every scope that no other rule is for. */
  readonly scope?: 'once' | 'session' | 'always'
  readonly option: RegExp
}

/** The keys that choose the answer in a numbered dialog. */
export function answerKeys(
  rules: readonly AnswerRule[],
  dialog: Dialog,
  decision: Decision,
): readonly string[] | undefined {
  const at = choiceFor(rules, dialog, decision)
  return at === undefined ? undefined : [String(at + 1)]
}

/**
 * The place of the first choice that means an answer, found by its label, so that a choice more or less does not
 * shift the meaning of a key.
 */
export function choiceFor(
  rules: readonly AnswerRule[],
  dialog: Dialog,
  decision: Decision,
): number | undefined {
  const chosen = decision.verdict === 'allow' ? answered(dialog, decision.answers) : undefined
  if (chosen !== undefined) return chosen < 0 ? undefined : chosen
  const fitting = rules.filter(
    (rule) => rule.dialog.includes(dialog.kind) && rule.verdict === decision.verdict,
  )
  const scope = decision.verdict === 'allow' ? decision.scope : undefined
  const inOrder = [
    ...fitting.filter((rule) => rule.scope === scope),
    ...fitting.filter((rule) => !rule.scope),
  ]
  for (const { option } of inOrder) {
    const at = dialog.options.findIndex((label) => option.test(label))
    if (at >= 0) return at
  }
  return undefined
}

/** The choice that a question was answered with; free text has none, and several answers are several dialogs. */
function answered(dialog: Dialog, answers: Readonly<Record<string, string>> | undefined): number | undefined {
  if (dialog.kind !== 'question' || !answers) return undefined
  const given = new Set(Object.values(answers).map((answer) => answer.trim().toLowerCase()))
  return dialog.options.findIndex((label) => given.has(label.trim().toLowerCase()))
}
