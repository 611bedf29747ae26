import type { CommandDefinition, InputOf } from './cli/command.ts'
import { daemonCommands, versionCommands } from './cli/daemon-commands.ts'
import { historyCommands } from './cli/history-commands.ts'
import { interactiveCommands } from './cli/interactive-commands.ts'
import { journalCommands } from './cli/journal-commands.ts'
import { logCommands } from './cli/log-commands.ts'
import { serviceCommands } from './cli/service-commands.ts'
import { sessionCommands } from './cli/session-commands.ts'
import { sessionLookCommands } from './cli/session-look-commands.ts'
import { sessionReportCommands } from './cli/session-report-commands.ts'
import { settingsCommands } from './cli/settings-commands.ts'
import { traceCommands } from './cli/trace-commands.ts'
import { workflowCommands } from './cli/workflow-commands.ts'

/** The commands of `sm` by family, in the order that help shows. */
export const commandFamilies = {
  interactive: interactiveCommands,
  workflow: workflowCommands,
  session: sessionCommands,
  sessionLook: sessionLookCommands,
  sessionReport: sessionReportCommands,
  daemon: daemonCommands,
  version: versionCommands,
  history: historyCommands,
  trace: traceCommands,
  settings: settingsCommands,
  log: logCommands,
  journal: journalCommands,
  service: serviceCommands,
} as const
export type CommandFamilies = typeof commandFamilies

/** Every command of `sm`, by its full name. One that is added here is missing in its family of `src/cli/commands`. */
export const commands = Object.assign({}, ...Object.values(commandFamilies)) as Union<
  CommandFamilies[keyof CommandFamilies]
>
type Union<F> = (F extends unknown ? (family: F) => void : never) extends (family: infer All) => void
  ? { readonly [N in keyof All]: All[N] }
  : never
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
