import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { SessionView } from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import { oneLine } from './one-line.ts'
import { lastWords, sessionLines, shownName, titleOf } from './session-line.ts'
import { branch, treeOrder } from './session-tree.ts'

/** The line of `sm me`. */
export function renderMe(session: SessionView): string {
  return `${titleOf(session)} | ${session.status} | ${session.working_dir ?? 'no folder'}`
}

/** Sessions with what each works on. */
export function renderOthers({ sessions }: CommandOutput<'others'>, view: View): string {
  return sessionLines(
    sessions.map((session) => ({ session, text: lastWords(session) })),
    view,
  ).join('\n')
}

/** The caller, what is below it, and who works in the same folder. */
export function renderStatus(status: CommandOutput<'status'>, view: View): string {
  const { session, children, others, working_dir } = status
  const indent = (lines: readonly string[]) => lines.map((line) => `  ${line}`)
  const tree = treeOrder(children).map(({ session: child, level }) => ({
    session: child,
    indent: branch(level),
    text: lastWords(child),
  }))
  const here = others.map((other) => ({ session: other, text: lastWords(other) }))
  const locks = [...(session === null ? [] : [session]), ...others].filter(({ lock }) => lock !== null)
  return [
    session === null ? 'You: a person, outside of any session' : `You: ${renderMe(session)}`,
    ...(session?.worktree
      ? [`Work tree: ${session.worktree.path} on branch ${session.worktree.branch}`]
      : []),
    ...(session?.current_task ? [`Task: ${oneLine(session.current_task)}`] : []),
    ...locks.map((holder) => `Lock: ${shownName(holder)} says "${oneLine(holder.lock ?? '')}"`),
    ...(session === null ? [] : [children.length === 0 ? 'Children: none' : 'Children:']),
    ...indent(sessionLines(tree, view)),
    others.length === 0 ? `Others in ${working_dir}: none` : `Others in ${working_dir}:`,
    ...indent(sessionLines(here, view)),
  ].join('\n')
}
