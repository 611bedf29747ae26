import type { Decision } from '../dialect.ts'
import type { Dialog } from '../signal.ts'

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
