import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { lastWords, sessionLines } from './session-line.ts'
import { branch, treeOrder } from './session-tree.ts'

/** The children of a session with their last words, or all below it as a tree. */
export function renderChildren(
  { children }: CommandOutput<'children'>,
  view: View,
  { recursive }: { readonly recursive: boolean },
): string {
  const placed = treeOrder(children)
  const rows = recursive
    ? placed.map(({ session, level }) => ({ session, indent: branch(level) }))
    : placed.map(({ session }) => ({ session, text: lastWords(session) }))
  return sessionLines(rows, view).join('\n')
}
