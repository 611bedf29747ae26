import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { UnsavedView } from '../../contract/session-views.ts'
import { oneLine } from './one-line.ts'
import { lastWords, sessionLines, titleOf } from './session-line.ts'
import { branch, treeOrder } from './session-tree.ts'

/** Who was ended, as a tree, and which processes would not go. */
export function renderKilled({ killed, left }: CommandOutput<'kill'>): string {
  return [
    ...treeOrder(killed).map(({ session, level }) => {
      const note = session.detail === null ? '' : ` | ${oneLine(session.detail)}`
      const kept = session.worktree === null ? '' : ` | work tree kept: ${session.worktree.path}`
      return `${branch(level)}Killed ${titleOf(session)}${note}${kept}`
    }),
    ...(killed.length === 0 ? ['Nothing was running.'] : []),
    ...(left.length === 0
      ? []
      : [`${left.length === 1 ? '1 process' : `${left.length} processes`} still there: ${left.join(', ')}`]),
  ].join('\n')
}

/** Who is about to be ended, how each stands, and what is unsaved. */
export function renderDoomed(doomed: readonly UnsavedView[], now: number): string[] {
  const placed = treeOrder(doomed.map(({ session }) => session))
  const rows = placed.map(({ session, level }) => ({
    session,
    indent: branch(level),
    text: lastWords(session),
  }))
  const unsaved = new Map<string, readonly string[]>(doomed.map((one) => [one.session.id, one.unsaved]))
  return sessionLines(rows, { now, color: false }).flatMap((line, i) => [
    line,
    ...(unsaved.get(rows[i]?.session.id ?? '') ?? []).map((what) => `  unsaved: ${oneLine(what)}`),
  ])
}
