import { type CommandFamilies, type CommandName, commandFamilies } from '../contract/cli.ts'
import type { CommandModule } from './command-module.ts'

type Loaders = {
  readonly [F in keyof CommandFamilies]: () => Promise<{
    readonly [N in keyof CommandFamilies[F] & CommandName]: CommandModule<N>
  }>
}

/** A family is loaded whole when one of its commands is run, and no other: a light one must not pay for a heavy one. */
const loaders: Loaders = {
  interactive: async () => (await import('./commands/interactive.ts')).interactiveCommands,
  workflow: async () => (await import('./commands/workflows.ts')).workflowCommands,
  session: async () => (await import('./commands/sessions.ts')).sessionCommands,
  sessionLook: async () => (await import('./commands/session-look.ts')).sessionLookCommands,
  sessionReport: async () => (await import('./commands/session-report.ts')).sessionReportCommands,
  daemon: async () => (await import('./commands/daemon.ts')).daemonCommands,
  version: async () => (await import('./commands/version.ts')).versionCommands,
  history: async () => (await import('./commands/history.ts')).historyCommands,
  trace: async () => (await import('./commands/trace.ts')).traceCommands,
  settings: async () => (await import('./commands/settings.ts')).settingsCommands,
  log: async () => (await import('./commands/log.ts')).logCommands,
  journal: async () => (await import('./commands/journal.ts')).journalCommands,
  service: async () => (await import('./commands/service.ts')).serviceCommands,
}

export async function loadCommand<N extends CommandName>(name: N): Promise<CommandModule<N>> {
  const families = Object.keys(commandFamilies) as (keyof CommandFamilies)[]
  const family = families.find((one) => name in commandFamilies[one])
  const modules: Readonly<Record<string, unknown>> = family === undefined ? {} : await loaders[family]()
  return modules[name] as CommandModule<N>
}
