import { AppError } from '../../contract/errors.ts'
import type { PaneRef } from '../../ports/terminal.ts'
import { quote } from './quote.ts'

/** Keeps the id of the last paste at the terminal itself, which outlives whoever made it. */
export const pastedOption = '@muster-pasted'

const refused = 'muster-refused'

export type Conditional = {
  readonly commands: readonly string[]
  readonly otherwise?: readonly string[]
  readonly stamp: string | undefined
}

/** What moves when somebody types: the cursor, once the program has drawn it, and the time of their last key at once. */
export const stampFormat = '#{cursor_x}:#{cursor_y}:#{session_activity}'

/**
 * Runs commands in a living pane whose stamp is what it was, else others. tmux looks and acts in one turn, so that
 * no key of a person and no end of the program comes between; up to 3.3 it dies of a paste into a dead pane.
 */
export function whereUnmoved(pane: string, { commands, otherwise = [], stamp }: Conditional): string {
  const isSame = stamp === undefined ? '1' : `#{==:${stampFormat},${stamp}}`
  const isFit = `#{&&:#{!=:#{pane_dead},1},${isSame}}`
  const refuse = [...otherwise, `display-message -p -t '${pane}' '${refused} #{pane_dead}'`]
  // Keys would go to a person's scrolling, not to the program.
  const act = [`copy-mode -q -t '${pane}'`, ...commands]
  return `if-shell -F -t '${pane}' '${isFit}' ${quote(act.join(' ; '))} ${quote(refuse.join(' ; '))}`
}

/** Whether the commands ran; throws when the program has ended. */
export function didRun(pane: PaneRef, answers: readonly (readonly string[])[]): boolean {
  const refusal = answers.flat().find((line) => line.startsWith(refused))
  if (refusal === `${refused} 1`)
    throw new AppError('conflict', `the program in terminal ${pane.pane} has ended; start the session again`)
  return refusal === undefined
}
