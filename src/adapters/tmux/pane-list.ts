import { constants } from 'node:os'
import type { PaneInfo } from '../../ports/terminal.ts'

/** Marks the panes that we opened, on the user's own server too; the value is different for each. */
export const markOption = '@muster'

/** Keeps whose a pane is. */
export const ownerOption = '@muster-owner'

/** A pane of ours as tmux lists it. */
export type PaneRow = PaneInfo & {
  readonly mark: string
  /** Its terminal is closed, but tmux has not noticed that the process ended. */
  readonly isUnreaped: boolean
}

/** Commands whose answers `paneRows` reads. */
export function listCommands(): readonly string[] {
  const fields = [
    'pid',
    'start_time',
    'session_id',
    'pane_id',
    's/[|]/_/:session_name',
    ownerOption,
    'pane_pid',
    'pane_dead',
    'pane_dead_status',
    'pane_dead_signal',
    'session_attached',
  ].map((name) => `#{${name}}`)
  // A person may rename a session to hold a bar; titles are what the program says, and come last.
  const pane = [`#{${markOption}}`, ...fields, '#{pane_title}'].join('|')
  return [`list-panes -a -F '${pane}'`]
}

/**
 * A subscription whose value changes when a pane of ours ends. tmux makes up the value once a second, for all sessions
 * and at a cost of microseconds each.
 */
export function deadSubscription(): string {
  const dead = '#{pane_id}=#{pane_dead_status}#{pane_dead_signal} '
  const ofPane = `#{?#{pane_dead},#{?#{${markOption}},${dead},},}`
  return `refresh-client -B '${subscription}::#{S:#{W:#{P:${ofPane}}}}'`
}

/** What notices of the subscription are called. */
export const subscription = 'muster-dead'

/** Our panes: those of others have no mark, or one of another state folder. */
export function paneRows(
  [panes = []]: readonly (readonly string[])[],
  { version, folderMark }: { readonly version: number; readonly folderMark: string },
): PaneRow[] {
  return panes.flatMap((line) => {
    const [mark = '', ...fields] = line.split('|')
    return mark.startsWith(folderMark) ? [row(mark, fields, version)] : []
  })
}

function row(mark: string, fields: readonly string[], version: number): PaneRow {
  const [pid, started, session = '', pane = '', name = '', owner = '', panePid, ...state] = fields
  const [dead, code, signal, attached, ...title] = state
  const hasEnding = code !== '' || signal !== '' || version < tellsSignals
  return {
    mark,
    server: `${pid}-${started}`,
    session,
    pane,
    name,
    owner,
    pid: Number(panePid),
    isDead: dead === '1' && hasEnding,
    isUnreaped: dead === '1' && !hasEnding,
    ...(code ? { exitCode: Number(code) } : {}),
    ...(signal ? { exitSignal: signalName(signal) } : {}),
    attached: Number(attached),
    title: title.join('|'),
  }
}

/** The first version that says which signal ended a program. */
const tellsSignals = 303

/** Some builds tell the number, some the name without SIG. */
function signalName(text: string): string {
  const number = Number(text)
  if (Number.isNaN(number)) return text.startsWith('SIG') ? text : `SIG${text}`
  const found = Object.entries(constants.signals).find(([, value]) => value === number)
  return found?.[0] ?? `signal ${number}`
}
