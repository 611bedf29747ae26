import { createHash, randomUUID } from 'node:crypto'
import { AppError } from '../../contract/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OpenRequest, PaneRef, Terminal, TerminalEvent } from '../../ports/terminal.ts'
import { captureCommands, screenFrom } from './capture-screen.ts'
import { connect, keepConnection, type Link, outputs } from './connection.ts'
import { type Opened, openPane } from './open-pane.ts'
import { listCommands, type PaneRow, paneRows } from './pane-list.ts'
import { every, isOfPanes, oneAtATime, paneWatch, remindOfChildren } from './pane-watch.ts'
import { didRun, keyCommands, pasteText, whereUnmoved } from './paste-text.ts'
import { anchorName, tmuxServer } from './tmux-server.ts'

/** What happened is told by tmux; a list every so often finds what it did not tell. */
const netMs = 5_000

/** Terminals on a tmux server: our own by name, or with the socket `default` the user's, of which nothing is changed. */
export async function openTmux(options: {
  readonly socket: string
  readonly folder: string
  readonly clock: Clock
  readonly command?: string
  readonly onBug?: (error: unknown, where: string) => void
}): Promise<Terminal> {
  const { socket, folder, clock } = options
  const server = await tmuxServer({ socket, folder, command: options.command ?? 'tmux' })
  const folderMark = `${createHash('sha256').update(folder).digest('hex').slice(0, 12)}-`
  const known = { version: server.version, folderMark }
  const listeners = new Set<(event: TerminalEvent) => void>()
  const emit = (event: TerminalEvent): void => {
    for (const listener of listeners) listener(event)
  }
  const watch = paneWatch(emit)
  const stop = new AbortController()
  let look: () => void = () => {}

  const never = new AbortController().signal
  const see = (rows: readonly PaneRow[]): void => {
    watch.see(rows)
    const unreaped = rows.find(({ isUnreaped }) => isUnreaped)
    if (unreaped !== undefined) remindOfChildren(unreaped.server)
  }
  let run: string | undefined
  const settle = async (link: Link): Promise<void> => {
    const rows = paneRows(outputs(await link.client.run(listCommands(), never)), known)
    if (run !== undefined && run !== link.server) {
      watch.forget(run)
      emit({ kind: 'died', server: run })
    }
    run = link.server
    see(rows)
  }
  const connection = await keepConnection({
    clock,
    settle,
    connect: () => connect(server, clock, (line) => isOfPanes(line) && look()),
    tell: (kind) => emit({ kind }),
    onBug: options.onBug ?? (() => {}),
  })
  const list = async (signal: AbortSignal): Promise<PaneRow[]> =>
    paneRows(await connection.run({ commands: listCommands, isRepeatable: true }, signal), known)
  look = oneAtATime(async () => see(await list(stop.signal)), stop.signal)
  const net = every(netMs, look, { clock, signal: stop.signal })

  const open = async (request: OpenRequest, signal: AbortSignal): Promise<Opened> => {
    signal.throwIfAborted()
    const mark = `${folderMark}${randomUUID()}`
    watch.opening(mark)
    try {
      const opened = await openPane(request, { connection, mark, signal, list: () => list(never) })
      // After the caller has its answer, so that an end that comes at once is not told of an unknown pane.
      setImmediate(() => {
        watch.opened({ ...opened, mark })
        look()
      })
      return opened
    } catch (error) {
      watch.abandoned(mark)
      throw error
    }
  }
  const close = async ({ server, session }: PaneRef, signal: AbortSignal): Promise<void> => {
    const commands = () => [`kill-session -t '${session}'`]
    await connection.run({ commands, server, isRepeatable: true }, signal).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 'not_found') throw error
    })
  }

  return {
    open,
    close,
    // By its path: where names are looked up depends on a variable that a person's terminal may have or not.
    attachArgv: ({ session }) => [server.command, '-S', connection.link.socketPath, 'attach', '-t', session],
    server: () => connection.link.server,
    async panes(signal) {
      return (await list(signal)).map(({ mark: _mark, isUnreaped: _isUnreaped, ...info }) => info)
    },
    async capture({ server, pane }, signal, history) {
      const commands = () => captureCommands(pane, history)
      return screenFrom(await connection.run({ commands, server, isRepeatable: true }, signal))
    },
    paste: (pane, paste, signal) => pasteText(pane, paste, { connection, folder, signal }),
    async keys(pane, { keys, stamp }, signal) {
      const commands = [whereUnmoved(pane.pane, { commands: keyCommands(pane.pane, keys), stamp })]
      return didRun(pane, await connection.run({ commands: () => commands, server: pane.server }, signal))
    },
    async redraw({ server, pane }, signal) {
      // A size of its own would keep the window from following its clients.
      const commands = () => [
        `resize-window -U -t '${pane}' 1`,
        `resize-window -D -t '${pane}' 1`,
        `set-option -w -u -t '${pane}' window-size`,
      ]
      await connection.run({ commands, server, isRepeatable: true }, signal)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async release() {
      stop.abort()
      // A server with nothing in it but our anchor, and nobody else at that, has nothing to outlive us for.
      const isAlone = '#{&&:#{==:#{S:x},x},#{==:#{session_attached},1}}'
      await connection.release([`if-shell -F -t '=${anchorName}:' '${isAlone}' kill-server`])
      await net
    },
  }
}
