import { chmod, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bwrapIsolation } from '../../adapters/bwrap/bwrap-isolation.ts'
import { gitWorkspace } from '../../adapters/git/workspace.ts'
import { folderArchive } from '../../adapters/system/archive.ts'
import { privateFolder, sessionFolders } from '../../adapters/system/durable-files.ts'
import { systemLineFiles } from '../../adapters/system/line-files.ts'
import { systemProcesses } from '../../adapters/system/processes.ts'
import { openTmux } from '../../adapters/tmux/open-tmux.ts'
import { Directory } from '../../api/directory.ts'
import { type SessionHost, sessionHost } from '../../api/session-host.ts'
import type { TerminalDeps } from '../../api/session-kinds/terminal-session.ts'
import type { SessionId } from '../../contract/ids.ts'
import { Observer } from '../../engine/observer.ts'
import {
  abandonChildren,
  tellParent,
  tellSender,
  tidySession,
} from '../../engine/reactors/session-reactors.ts'
import type { Parts } from '../../engine/sessions/session-parts.ts'
import type { Terminal } from '../../ports/terminal.ts'
import { agentCliAdapters } from '../agent-cli-adapters.ts'
import type { Base, Feature } from '../base.ts'
import { packageRoot, socketName } from '../home.ts'

/** How sessions are found and shown, and the parts that others act on them with. */
export type TerminalSessions = Feature & {
  readonly host: SessionHost
  readonly directory: Directory
  readonly observer: Observer
  readonly terminals: TerminalDeps & { readonly observer: Observer }
}

/** Programs in terminals: those that Muster runs, and those that are only looked at. */
export function terminalSessions(base: Base): TerminalSessions {
  const { engine, journal, index, vault, clock, ids, config, files, env, onBug } = base
  const clis = agentCliAdapters(base.options.env)
  const host = sessionHost(() => openParts(base, clis))
  const looking = { clis, files: systemLineFiles, vault, env }
  const observer = new Observer({
    ...looking,
    engine,
    clock,
    ids,
    processes: systemProcesses(clock),
    config: () => config,
    onBug,
  })
  const directory = new Directory({ engine, journal, index, sessions: () => host.current(), observer, clock })
  const telling = {
    engine,
    vault,
    ids,
    config: () => config,
    onQueued: (id: SessionId) => host.current()?.get(id)?.delivery.poke(),
  }
  return {
    host,
    directory,
    observer,
    terminals: { engine, directory, host, clock, looking, observer },
    reactors: [
      tellParent(telling),
      tellSender(telling),
      tidySession(async (id, signal) => host.current()?.ends.tidy(id, signal)),
      abandonChildren(async () => host.current()?.abandonOrphans()),
    ],
    async start() {
      // A folder that is still there belongs to a session that runs, or whose end was cut off.
      const folders = await sessionFolders(files.sessions).list()
      const hasOpen = [...engine.sessions()].some(({ managed }) => managed?.origin === 'managed')
      if (hasOpen || folders.length > 0)
        await host.open().catch((error: unknown) => onBug(error, 'taking up sessions'))
      observer.start()
    },
    async stop() {
      await observer.stop()
      await host.close()
    },
  }
}

/** Builds what managed sessions are made with; without tmux there is none, and the reason is thrown. */
async function openParts(base: Base, clis: Parts['clis']): Promise<Parts & { readonly terminal: Terminal }> {
  const { options, files, authority, clock, config, env } = base
  const own = await ownSm(files.bin)
  const socket = config.tmux.socket === 'default' ? 'default' : socketName(files.home, options.usualHome)
  const terminal = await openTmux({ socket, folder: files.tmux, clock, onBug: base.onBug })
  return {
    engine: base.engine,
    vault: base.vault,
    clock,
    ids: base.ids,
    terminal,
    processes: systemProcesses(clock),
    folders: sessionFolders(files.sessions),
    files: systemLineFiles,
    workspace: gitWorkspace,
    isolation: bwrapIsolation({
      hidden: [files.home, options.usualHome, ...(env['TMUX_TMPDIR'] ? [env['TMUX_TMPDIR']] : [])],
      readable: [
        fileURLToPath(packageRoot()),
        dirname(process.execPath),
        own.folder,
        own.shellStart,
        files.port,
      ],
      extra: () => config.sessions.isolation_writable,
    }),
    archive: folderArchive(
      () => resolve(files.home, config.child_agents.cleanup.archive_path),
      (line) => base.redaction.redactor.text(line).text,
    ),
    clis,
    config: () => config,
    prices: base.prices,
    settingsIn: base.settingsIn,
    agents: (folder, signal) => base.agentsIn(folder ?? options.projectRoot, signal),
    grants: {
      grant: (sessionId) => authority.grantSession(sessionId),
      revoke: (sessionId) => authority.revokeSession(sessionId),
      keep: (sessionIds) => authority.keepSessions(sessionIds),
    },
    surroundings: {
      home: files.home,
      env,
      hookUrl: () => `${base.url()}/api/v1/hooks`,
      hookCommand: [own.path, 'hook'],
      binFolder: own.folder,
      shellStart: own.shellStart,
      tmuxSocket: socket,
    },
    onBug: base.onBug,
  }
}

/** The `sm` that belongs to this daemon: beside it in a build, its source in a checkout. */
const entry = (): string => {
  const isBuilt = import.meta.url.endsWith('.mjs')
  return fileURLToPath(new URL(isBuilt ? './sm.mjs' : '../../cli/main.ts', import.meta.url))
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A folder with nothing but this `sm`, which goes first on the PATH of every session, and what keeps it there. */
async function ownSm(folder: string): Promise<{ folder: string; path: string; shellStart: string }> {
  await privateFolder(folder)
  const path = join(folder, 'sm')
  // Hooks run it for every call of a tool: what it is made of is compiled once.
  const compiled = process.env['NODE_COMPILE_CACHE'] ?? join(folder, '..', 'compiled')
  await writeFile(
    path,
    `#!/bin/sh\nexport NODE_COMPILE_CACHE=${quoted(compiled)}\nexec ${quoted(process.execPath)} ${quoted(entry())} "$@"\n`,
  )
  await chmod(path, 0o700)
  // A login shell sets the PATH anew; bash reads this file after that.
  const shellStart = join(folder, '..', 'shell-start.sh')
  const keep = `case "$PATH:" in ${quoted(folder)}:*) ;; *) PATH=${quoted(folder)}:$PATH ;; esac`
  const theirs = 'if [ -n "$MUSTER_BASH_ENV" ] && [ -r "$MUSTER_BASH_ENV" ]; then . "$MUSTER_BASH_ENV"; fi'
  await writeFile(shellStart, `${theirs}\n${keep}\nexport PATH\n`, { mode: 0o600 })
  return { folder, path, shellStart }
}
