import type { LoadedAgents } from '../../contract/agent-definition.ts'
import type { AgentCliName } from '../../contract/config/names.ts'
import type { Config, LoadedConfig } from '../../contract/config.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { PriceBook } from '../../core/ledger/price-book.ts'
import type { AgentCli } from '../../ports/agent-cli.ts'
import type { Clock, Ids } from '../../ports/clock.ts'
import type { Archive, LineFiles, SessionFolders } from '../../ports/files.ts'
import type { Isolation } from '../../ports/isolation.ts'
import type { Processes } from '../../ports/processes.ts'
import type { Vault } from '../../ports/storage.ts'
import type { Terminal } from '../../ports/terminal.ts'
import type { Workspace } from '../../ports/workspace.ts'
import type { Engine } from '../engine.ts'

/** What managed sessions are made with; all effects are behind these. */
export type Parts = {
  readonly engine: Engine
  readonly vault: Vault
  readonly clock: Clock
  readonly ids: Ids
  readonly terminal: Terminal
  readonly processes: Processes
  readonly folders: SessionFolders
  readonly files: LineFiles
  readonly workspace: Workspace
  readonly isolation: Isolation
  readonly archive: Archive
  readonly clis: Readonly<Record<AgentCliName, AgentCli>>
  readonly config: () => Config
  readonly prices: Pick<PriceBook, 'estimate' | 'knows'>
  /** The settings for work in a folder: what its project may decide is laid over them. */
  readonly settingsIn: (
    where: { readonly folder: string; readonly isForWorktree?: boolean },
    signal: AbortSignal,
  ) => Promise<Pick<LoadedConfig, 'config' | 'project'>>
  /** The agents that count in a folder; those of the daemon's own project where none is given. */
  readonly agents: (
    folder: string | undefined,
    signal: AbortSignal,
  ) => Promise<Pick<LoadedAgents, 'agents' | 'held'>>
  /** Capabilities: a session's token lets it report for itself and manage what is below it. */
  readonly grants: {
    grant(sessionId: SessionId): Promise<string>
    revoke(sessionId: SessionId): Promise<void>
    /** Takes away those of all other sessions. */
    keep(sessionIds: ReadonlySet<SessionId>): Promise<void>
  }
  readonly surroundings: Surroundings
  readonly onBug: (error: unknown, where: string) => void
}

/** Where the daemon stands, as its sessions need to know it. */
export type Surroundings = {
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  /** Where hooks are sent to over HTTP; known once the daemon listens. */
  readonly hookUrl: () => string
  /** The argv that runs a hook as a command: exactly this `sm`. */
  readonly hookCommand: readonly string[]
  /** A folder with nothing but this `sm`, first on the PATH of every session. */
  readonly binFolder: string
  readonly shellStart: string
  readonly tmuxSocket: string
}
