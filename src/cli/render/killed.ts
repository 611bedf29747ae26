import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { oneLine } from './one-line.ts'
import { titleOf } from './session-line.ts'
import { branch, treeOrder } from './session-tree.ts'

/** Who was ended, as a tree, and which processes would not go. */
export function renderKilled({ killed, left }: CommandOutput<'kill'>): string {
  return [
    ...treeOrder(killed).map(({ session, level }) => {
      const note = session.detail === null ? '' : ` | ${oneLine(session.detail)}`
      return `${branch(level)}Killed ${titleOf(session)}${note}`
    }),
    ...(killed.length === 0 ? ['Nothing was running.'] : []),
    ...(left.length === 0
      ? []
      : [`${left.length === 1 ? '1 process' : `${left.length} processes`} still there: ${left.join(', ')}`]),
  ].join('\n')
}
