import type { CommandName } from '../contract/cli.ts'
import type { CommandModule } from './command-module.ts'

type Loaders = { readonly [N in CommandName]: () => Promise<CommandModule<N>> }

/** Each command is loaded alone, so that a light one does not pay for a heavy one. */
const loaders: Loaders = {
  up: async () => (await import('./commands/up.ts')).up,
  down: async () => (await import('./commands/down.ts')).down,
  open: async () => (await import('./commands/open.ts')).open,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  version: async () => (await import('./commands/version.ts')).version,
  search: async () => (await import('./commands/search.ts')).search,
  'config show': async () => (await import('./commands/config-show.ts')).configShow,
  'agents list': async () => (await import('./commands/agents-list.ts')).agentsList,
  'agents show': async () => (await import('./commands/agents-show.ts')).agentsShow,
  'agents check': async () => (await import('./commands/agents-check.ts')).agentsCheck,
  'redact test': async () => (await import('./commands/redact-test.ts')).redactTest,
  completion: async () => (await import('./commands/completion.ts')).completion,
  'journal verify': async () => (await import('./commands/journal-verify.ts')).journalVerify,
  'journal tail': async () => (await import('./commands/journal-tail.ts')).journalTail,
  'journal import': async () => (await import('./commands/journal-import.ts')).journalImport,
  'journal export': async () => (await import('./commands/journal-export.ts')).journalExport,
  'journal stats': async () => (await import('./commands/journal-stats.ts')).journalStats,
  'journal rebuild-index': async () =>
    (await import('./commands/journal-rebuild-index.ts')).journalRebuildIndex,
  'log validate': async () => (await import('./commands/log-validate.ts')).logValidate,
  'log import': async () => (await import('./commands/log-import.ts')).logImport,
  'log export': async () => (await import('./commands/log-export.ts')).logExport,
  'log migrate': async () => (await import('./commands/log-migrate.ts')).logMigrate,
  'log repair': async () => (await import('./commands/log-repair.ts')).logRepair,
}

export function loadCommand<N extends CommandName>(name: N): Promise<CommandModule<N>> {
  return loaders[name]()
}
