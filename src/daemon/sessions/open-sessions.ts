import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bwrapIsolation } from '../../adapters/bwrap/bwrap-isolation.ts'
import { gitWorkspace } from '../../adapters/git/workspace.ts'
import { folderArchive } from '../../adapters/system/archive.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import { systemIds } from '../../adapters/system/ids.ts'
import { systemLineFiles } from '../../adapters/system/line-files.ts'
import { systemProcesses } from '../../adapters/system/processes.ts'
import { sessionFolders } from '../../adapters/system/session-folders.ts'
import { openTmux } from '../../adapters/tmux/open-tmux.ts'
import type { AgentDefinition } from '../../contract/agent-definition.ts'
import type { Config } from '../../contract/config.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Parts } from '../../engine/sessions/parts.ts'
import type { Terminal } from '../../ports/terminal.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Authority } from '../authority.ts'
import type { HomeFiles } from '../home.ts'
import { packageRoot } from '../package-root.ts'
import { agentCliAdapters } from './agent-cli-adapters.ts'
import { ownSm } from './own-sm.ts'
import { socketName } from './socket-name.ts'

export type OpenSessionsOptions = {
  readonly files: HomeFiles
  /** The state folder of a machine on which nobody chose another. */
  readonly usualHome: string
  readonly engine: Engine
  readonly vault: Vault
  readonly authority: Authority
  readonly config: () => Config
  readonly env: Readonly<Record<string, string>>
  readonly agents: (signal: AbortSignal) => Promise<readonly AgentDefinition[]>
  readonly url: () => string
  readonly archiveFolder: () => string
  readonly redactLine: (line: string) => string
  readonly onBug: (error: unknown, where: string) => void
}

/** Builds what managed sessions are made with; without tmux there is none, and the reason is thrown. */
export async function openParts(
  options: OpenSessionsOptions,
): Promise<Parts & { readonly terminal: Terminal }> {
  const { files, authority } = options
  const own = await ownSm(files.bin)
  const wanted = options.config().tmux.socket
  const socket = wanted === 'default' ? 'default' : socketName(files.home, options.usualHome)
  const terminal = await openTmux({
    socket,
    folder: files.tmux,
    clock: systemClock,
    onBug: options.onBug,
  })
  return {
    engine: options.engine,
    vault: options.vault,
    clock: systemClock,
    ids: systemIds(systemClock),
    terminal,
    processes: systemProcesses(systemClock),
    folders: sessionFolders(files.sessions),
    files: systemLineFiles,
    workspace: gitWorkspace,
    isolation: bwrapIsolation({
      hidden: [
        files.home,
        options.usualHome,
        ...(options.env['TMUX_TMPDIR'] ? [options.env['TMUX_TMPDIR']] : []),
      ],
      readable: [
        fileURLToPath(packageRoot()),
        dirname(process.execPath),
        own.folder,
        own.shellStart,
        files.port,
      ],
      extra: () => options.config().sessions.isolation_writable,
    }),
    archive: folderArchive(options.archiveFolder, options.redactLine),
    clis: agentCliAdapters(options.env),
    config: options.config,
    agents: options.agents,
    grants: {
      grant: (sessionId) => authority.grantSession(sessionId),
      revoke: (sessionId) => authority.revokeSession(sessionId),
      keep: (sessionIds) => authority.keepSessions(sessionIds),
    },
    surroundings: {
      home: files.home,
      env: options.env,
      hookUrl: () => `${options.url()}/api/v1/hooks`,
      hookCommand: [own.path, 'hook'],
      binFolder: own.folder,
      shellStart: own.shellStart,
      tmuxSocket: socket,
    },
    onBug: options.onBug,
  }
}
