import type { Decision } from '../../../contract/decision.ts'
import type { Dialog } from '../../../contract/signal.ts'
import { choiceFor } from '../../system/screen-dialogs.ts'
import { piAnswerRules } from './screen-rules.ts'

/** The keys that walk to the choice and take it. */
export function piAnswerKeys(dialog: Dialog, decision: Decision): readonly string[] | undefined {
  const at = choiceFor(piAnswerRules, dialog, decision)
  if (at === undefined || dialog.selected === undefined) return undefined
  const steps = at - dialog.selected
  return [...Array.from({ length: Math.abs(steps) }, () => (steps < 0 ? 'Up' : 'Down')), 'Enter']
}
