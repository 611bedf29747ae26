import type { Clock } from '../../ports/clock.ts'
import type { Processes, ProcessInfo } from '../../ports/processes.ts'
import { closeGroup, openGroup } from './control-groups.ts'
import { procTable } from './proc-table.ts'
import { psTable } from './ps-table.ts'

export function systemProcesses(clock: Clock, table: ProcessTable = tableOfThisSystem()): Processes {
  return {
    async list(signal) {
      const rows = await table.rows(signal)
      return rows.map(({ session: _session, birth: _birth, ...info }) => info)
    },
    marked: (name, value, signal) => table.marked(name, value, signal),
    carrying: (names, signal) => table.carrying(names, signal),
    startedAt: (pid) => table.startedAt(pid),
    variable: (pid, name) => table.variable(pid, name),
    openGroup,
    closeGroup,
    endTree: (root, { graceMs }, signal) => endTree(root, { table, clock, graceMs, signal }),
  }
}

const tableOfThisSystem = (): ProcessTable => (process.platform === 'linux' ? procTable : psTable)

/** A process with what tells it from a later one that got the same pid. */
export type ProcessRow = ProcessInfo & {
  readonly session: number
  readonly birth: string
}

/** How one operating system is asked about its processes. */
export type ProcessTable = {
  /** All that live; those that ended and wait for their parent to notice do not. */
  rows(signal: AbortSignal): Promise<readonly ProcessRow[]>
  marked(name: string, value: string, signal: AbortSignal): Promise<readonly number[]>
  carrying: Processes['carrying']
  startedAt(pid: number): Promise<number | undefined>
  variable(pid: number, name: string): Promise<string | undefined>
  /** Whether the pid still belongs to the same process. */
  isSame(row: ProcessRow): Promise<boolean>
}

type Root = Parameters<Processes['endTree']>[0]

type EndTreeOptions = {
  readonly table: ProcessTable
  readonly clock: Clock
  readonly graceMs: number
  readonly signal: AbortSignal
}

const firstLookMs = 20
const longestLookMs = 200
const maxKills = 40

/** Asks all of them to end, then ends them; answers the pids that even that did not end. */
async function endTree(root: Root, options: EndTreeOptions): Promise<readonly number[]> {
  const { clock, graceMs, signal } = options
  const family = familyOf(root, options)
  const asked = new Set<string>()
  const killAtMs = clock.monotonic() + graceMs
  let kills = 0
  let lookMs = firstLookMs
  // One look may miss a child that was born during it; nobody is left when two in a row find none.
  for (let empty = 0; ; ) {
    const alive = await family()
    empty = alive.length === 0 ? empty + 1 : 0
    if (empty === 2) return []
    if (empty === 1) continue
    const leftMs = killAtMs - clock.monotonic()
    if (leftMs <= 0 && kills++ === maxKills) return alive.map(({ pid }) => pid)
    for (const row of alive) {
      const name = leftMs > 0 ? 'SIGTERM' : 'SIGKILL'
      if (asked.has(`${key(row)} ${name}`)) continue
      asked.add(`${key(row)} ${name}`)
      if (await options.table.isSame(row)) send(row.pid, name)
    }
    await clock.sleep(leftMs > 0 ? Math.min(lookMs, leftMs) : firstLookMs, signal)
    lookMs = Math.min(2 * lookMs, longestLookMs)
  }
}

/**
 * Finds the living members again and again. Who was once a member stays one, though its parent ended and its mark is
 * gone; a later process that got a member's pid never becomes one.
 */
function familyOf(root: Root, { table, signal }: EndTreeOptions): () => Promise<readonly ProcessRow[]> {
  const members = new Map<number, string>()
  // No living process has this for its birth, so that only groups and sessions count as the ended one's.
  if (root.pid !== undefined && root.hasEnded) members.set(root.pid, 'ended')
  let isFirst = root.hasEnded !== true

  const isMember = (row: ProcessRow | undefined): boolean =>
    row !== undefined && members.get(row.pid) === row.birth
  /** Led by a member, who may have ended: no other can have its pid while the group or session has anyone in it. */
  const isLedByMember = (leader: number, byPid: ReadonlyMap<number, ProcessRow>): boolean =>
    members.has(leader) && (!byPid.has(leader) || isMember(byPid.get(leader)))

  return async () => {
    const [rows, marked] = await Promise.all([
      table.rows(signal),
      table.marked(root.mark.name, root.mark.value, signal),
    ])
    const byPid = new Map(rows.map((row) => [row.pid, row]))
    const ownGroup = byPid.get(process.pid)?.group
    const others = rows.filter(({ pid, group }) => pid > 1 && pid !== process.pid && group !== ownGroup)
    const add = ({ pid, birth }: ProcessRow): unknown => members.set(pid, birth)

    for (const row of others) {
      const isRoot = isFirst && row.pid === root.pid && startedThen(row, root.startedAtMs)
      if (isRoot || marked.includes(row.pid)) add(row)
    }
    isFirst = false
    for (let isGrowing = true; isGrowing; ) {
      isGrowing = false
      for (const row of others) {
        if (isMember(row)) continue
        const isChild = isMember(byPid.get(row.parent))
        if (!isChild && !isLedByMember(row.group, byPid) && !isLedByMember(row.session, byPid)) continue
        add(row)
        isGrowing = true
      }
    }
    return others.filter(isMember)
  }
}

/** The system's own idea of when it was started shifts a little when the clock is set. */
const startedThen = (row: ProcessRow, startedAtMs: number | undefined): boolean =>
  startedAtMs === undefined || Math.abs(row.startedAtMs - startedAtMs) <= 2000

const key = ({ pid, birth }: ProcessRow): string => `${pid} ${birth}`

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    // It ended just now, or it is another user's and will be told as still alive.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
