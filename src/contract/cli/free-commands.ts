import { sessionLookCommands } from './session-look-commands.ts'
import { sessionReportCommands } from './session-report-commands.ts'

/**
 * What an agent may say with `sm` without being asked: it reports or looks. What starts, decides, speaks to others
 * or ends is asked for, else a session that asks could start one that does not.
 */
export const freeCommands: readonly string[] = [
  ...Object.keys(sessionReportCommands),
  ...Object.keys(sessionLookCommands),
  'messages',
  'approvals',
  'wait',
].filter((name) => !name.includes(' '))

/** One such command and nothing beside it: no second command, no redirection, nothing that a shell would expand. */
export const freeCommand = new RegExp(
  `^[ \\t]*sm[ \\t]+(?:${freeCommands.join('|')})(?:[ \\t]+(?:[\\w@%+=:,./#-]|"[^"$\`\\\\]*"|'[^']*')+)*[ \\t]*$`,
)
