import type { CommandDefinition } from './cli/command.ts'
import type { InputOf } from './cli/command-input.ts'
import { daemonCommands } from './cli/daemon-commands.ts'
import { hookCommand } from './cli/hook-command.ts'
import { journalCommands } from './cli/journal-commands.ts'
import { logCommands } from './cli/log-commands.ts'
import { replayCommands } from './cli/replay-commands.ts'
import { serviceCommands } from './cli/service-commands.ts'
import { sessionCommands } from './cli/session-commands.ts'
import { sessionLookCommands } from './cli/session-look-commands.ts'
import { sessionReportCommands } from './cli/session-report-commands.ts'
import { settingsCommands } from './cli/settings-commands.ts'
import { talkCommands } from './cli/talk-commands.ts'
import { watchCommand } from './cli/watch-command.ts'
import { workflowCommands } from './cli/workflow-commands.ts'

/** Every command of `sm`, by its full name. Adding one here makes the loader of commands incomplete. */
export const commands = {
  ...watchCommand,
  ...talkCommands,
  ...workflowCommands,
  ...sessionCommands,
  ...sessionLookCommands,
  ...sessionReportCommands,
  ...daemonCommands,
  ...replayCommands,
  ...settingsCommands,
  ...logCommands,
  ...journalCommands,
  ...serviceCommands,
  ...hookCommand,
}
export type CommandName = keyof typeof commands
export type CommandInput<N extends CommandName> = InputOf<(typeof commands)[N]>

/** The commands in the order of the table, with the wide type that interpreters need. */
export const commandEntries = Object.entries(commands) as [CommandName, CommandDefinition][]

/** Options that every command takes. */
export const globalOptions = {
  json: { kind: 'switch', about: 'print exactly the data, as JSON' },
  color: { kind: 'switch', about: 'colour the output; --no-color never does' },
  help: { kind: 'switch', short: 'h', about: 'print help for a command' },
  version: { kind: 'switch', about: 'print the version' },
} as const
