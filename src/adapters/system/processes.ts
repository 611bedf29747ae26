import { promises as fs } from 'node:fs'
import type { Clock } from '../../ports/clock.ts'
import type { Family, Kin, Processes, ProcessInfo, Stray } from '../../ports/processes.ts'
import { closeGroup, openGroup } from './control-groups.ts'
import { procTable } from './proc-table.ts'
import { psTable } from './ps-table.ts'

export function systemProcesses(clock: Clock, table: ProcessTable = tableOfThisSystem()): Processes {
  return {
    async list(signal) {
      return (await table.rows(signal)).map(infoOf)
    },
    kin: async (families, signal) => kinIn(await table.rows(signal), families),
    strays: (given, signal) => straysIn(table, given, signal),
    marked: (name, value, signal) => table.marked(name, value, signal),
    carrying: (names, signal) => table.carrying(names, signal),
    startedAt: (pid) => table.startedAt(pid),
    variable: (pid, name) => table.variable(pid, name),
    openGroup,
    closeGroup,
    endTree: (root, { graceMs }, signal) => endTree(root, { table, clock, graceMs, signal }),
  }
}

const infoOf = ({ session: _session, birth: _birth, ...info }: ProcessRow): ProcessInfo => info

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
  /**
   * Where a process of this user is by its folder and its open files, and whether it carries a name; nothing of others',
   * or where the system does not tell.
   */
  whereabouts(
    pid: number,
    mark: string,
  ): Promise<{ readonly places: readonly string[]; readonly isMarked: boolean } | undefined>
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
  const members = new Map(root.known)
  // No living process has this for its birth, so that only groups and sessions count as the ended one's.
  if (root.pid !== undefined && root.hasEnded) members.set(root.pid, 'ended')
  let isFirst = root.hasEnded !== true

  return async () => {
    const [rows, marked] = await Promise.all([
      table.rows(signal),
      table.marked(root.mark.name, root.mark.value, signal),
    ])
    const others = strangersTo(rows)
    for (const row of others) {
      const isRoot = isFirst && row.pid === root.pid && startedThen(row, root.startedAtMs)
      if (isRoot || marked.includes(row.pid)) members.set(row.pid, row.birth)
    }
    isFirst = false
    return grow(members, rows, others)
  }
}

/** All but this process and those in its group, which are never meant. */
function strangersTo(rows: readonly ProcessRow[]): readonly ProcessRow[] {
  const ownGroup = rows.find(({ pid }) => pid === process.pid)?.group
  return rows.filter(({ pid, group }) => pid > 1 && pid !== process.pid && group !== ownGroup)
}

/** Adds whoever was started by a member, or is in a group or session that one leads; answers the members that live. */
function grow(
  members: Map<number, string>,
  rows: readonly ProcessRow[],
  others: readonly ProcessRow[],
): readonly ProcessRow[] {
  const byPid = new Map(rows.map((row) => [row.pid, row]))
  const isMember = (row: ProcessRow | undefined): boolean =>
    row !== undefined && members.get(row.pid) === row.birth
  /** Led by a member, who may have ended: no other can have its pid while the group or session has anyone in it. */
  const isLedByMember = (leader: number): boolean =>
    members.has(leader) && (!byPid.has(leader) || isMember(byPid.get(leader)))
  for (let isGrowing = true; isGrowing; ) {
    isGrowing = false
    for (const row of others) {
      if (isMember(row)) continue
      const isChild = isMember(byPid.get(row.parent))
      if (!isChild && !isLedByMember(row.group) && !isLedByMember(row.session)) continue
      members.set(row.pid, row.birth)
      isGrowing = true
    }
  }
  return others.filter(isMember)
}

/** Members that ended are forgotten once they lead nobody: their pids may come again. */
function kinIn(rows: readonly ProcessRow[], families: readonly Family[]): readonly Kin[] {
  const others = strangersTo(rows)
  return families.map(({ pid, startedAtMs, known }) => {
    const members = new Map(known)
    const root = others.find((row) => row.pid === pid && startedThen(row, startedAtMs))
    if (root) members.set(pid, root.birth)
    const alive = grow(members, rows, others)
    const kept = new Set(alive.flatMap((row) => [row.pid, row.group, row.session]))
    return new Map([...members].filter(([member]) => kept.has(member)))
  })
}

async function straysIn(
  table: ProcessTable,
  { mark, folders, programs }: Parameters<Processes['strays']>[0],
  signal: AbortSignal,
): Promise<readonly Stray[]> {
  const rows = await table.rows(signal)
  const { takers, holders } = takersIn(rows, programs)
  const lost: { readonly row: ProcessRow; readonly places: readonly string[] }[] = []
  for (const row of strangersTo(rows)) {
    if (!takers.has(row.parent) || takers.has(row.pid) || holders.includes(row.pid)) continue
    signal.throwIfAborted()
    const where = await table.whereabouts(row.pid, mark)
    if (where && !where.isMarked) lost.push({ row, places: where.places })
  }
  if (lost.length === 0) return []
  const real = new Map<string, string>()
  for (const folder of new Set(folders)) real.set(folder, await fs.realpath(folder).catch(() => folder))
  return lost.flatMap(({ row, places }) => {
    const within = [...real].flatMap(([folder, at]) =>
      places.some((place) => `${place}/`.startsWith(`${at}/`)) ? [folder] : [],
    )
    return within.length === 0 ? [] : [{ ...infoOf(row), folders: within }]
  })
}

/** What holds programs in terminals, and what takes a process whose parent ended: the first of all, a user's manager, and whoever took those holders or this process. */
function takersIn(rows: readonly ProcessRow[], programs: readonly number[]) {
  const byPid = new Map(rows.map((row) => [row.pid, row]))
  const own = byPid.get(process.pid)
  const holders = programs.flatMap((pid) => byPid.get(pid)?.parent ?? [])
  const takers = new Set([
    1,
    ...rows.filter(({ command }) => /^\S*systemd --user\b/.test(command)).map(({ pid }) => pid),
    ...holders.flatMap((pid) => byPid.get(pid)?.parent ?? []),
    // One that leads its own session was detached by whoever started it.
    ...(own && own.session === own.pid ? [own.parent] : []),
  ])
  return { takers, holders }
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
