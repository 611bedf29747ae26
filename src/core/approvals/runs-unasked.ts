import type { SignalOf } from '../../contract/signal.ts'
import { canonicalTool } from '../delegation/tool-names.ts'
import { verifies } from '../delegation/verification-command.ts'
import type { Managed } from '../session/managed.ts'

/**
 * Whether an agent at the work of a workflow needs nobody's yes: its role has the tool, and the command only tests,
 * checks, builds or looks, as Muster itself does with the result. What is let through here has passed the gate before.
 */
export function runsUnasked(
  session: Managed | undefined,
  parent: Managed | undefined,
  { ask, tool, input }: SignalOf<'asking'>,
): boolean {
  if (parent?.origin !== 'workflow' || session?.policy === undefined) return false
  if (ask !== 'permission' || tool === undefined || canonicalTool(tool) !== 'Bash') return false
  const command =
    typeof input === 'object' && input !== null && 'command' in input ? input.command : undefined
  return typeof command === 'string' && verifies(command).ok
}
