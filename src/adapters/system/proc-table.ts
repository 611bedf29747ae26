import { promises as fs, readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { type Marks, marksIn } from './control-groups.ts'
import type { ProcessRow, ProcessTable } from './processes.ts'

/** Processes as Linux shows them under /proc. */
export const procTable: ProcessTable = {
  async rows(signal) {
    const bootMs = await bootTime()
    const { pageBytes, ticksPerSecond } = units()
    return eachPid(signal, (pid) => {
      const text = read(pid, 'stat')
      const stat = text === undefined ? undefined : parseStat(text.toString())
      if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined
      const command = read(pid, 'cmdline')
      const ms = (ticks: number): number => Math.round((ticks * 1000) / ticksPerSecond)
      const row: ProcessRow = {
        pid,
        parent: stat.parent,
        group: stat.group,
        session: stat.session,
        birth: stat.birth,
        startedAtMs: bootMs + ms(Number(stat.birth)),
        rssBytes: stat.pages * pageBytes,
        cpuMs: ms(stat.cpuTicks),
        command: command?.toString().replace(/\0+$/, '').replaceAll('\0', ' ') || `[${stat.name}]`,
      }
      return row
    })
  },

  marked(name, value, signal) {
    const wanted = Buffer.from(`${name}=${value}\0`)
    return eachPid(signal, (pid) => {
      const environ = read(pid, 'environ')
      const at = environ?.indexOf(wanted) ?? -1
      const isWhole =
        at === 0 || (at > 0 && environ?.[at - 1] === 0) || environ?.includes(Buffer.concat([nul, wanted]))
      return isWhole || groupMarks(pid)[name] === value ? pid : undefined
    })
  },

  carrying(names, signal) {
    return eachPid(signal, (pid) => {
      const pairs = read(pid, 'environ')?.toString().split('\0')
      const group = groupMarks(pid)
      const found = names.map((name) => {
        const pair = pairs?.find((one) => one.startsWith(`${name}=`))
        return [name, group[name] ?? pair?.slice(name.length + 1)] as const
      })
      if (found.some(([, value]) => value === undefined)) return undefined
      return { pid, values: Object.fromEntries(found) as Record<(typeof names)[number], string> }
    })
  },

  async startedAt(pid) {
    const text = read(pid, 'stat')
    const stat = text === undefined ? undefined : parseStat(text.toString())
    if (stat === undefined || stat.isEnding) return undefined
    return (await bootTime()) + Math.round((Number(stat.birth) * 1000) / units().ticksPerSecond)
  },

  async variable(pid, name) {
    const pairs = read(pid, 'environ')?.toString().split('\0')
    return pairs?.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
  },

  async whereabouts(pid, mark) {
    const folder = `/proc/${pid}`
    const [stat, cwd, names] = await Promise.all([
      fs.stat(folder).catch(gone),
      fs.readlink(`${folder}/cwd`).catch(gone),
      fs.readdir(`${folder}/fd`).catch(gone),
    ])
    if (stat?.uid !== process.geteuid?.() || cwd === undefined) return undefined
    const files = (names ?? []).map((name) => fs.readlink(`${folder}/fd/${name}`).catch(gone))
    const paths = [cwd, ...(await Promise.all(files))].filter((path) => path !== undefined)
    const pairs = read(pid, 'environ')?.toString().split('\0') ?? []
    return {
      places: paths.filter((path) => path.startsWith('/') && !path.startsWith('/dev/')),
      isMarked: groupMarks(pid)[mark] !== undefined || pairs.some((pair) => pair.startsWith(`${mark}=`)),
    }
  },

  // Read at once, so that nothing of ours comes between this look and a signal.
  isSame: async ({ pid, birth }) => {
    try {
      return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.birth === birth
    } catch (error) {
      if (isGone(error)) return false
      throw error
    }
  },
}

const groupMarks = (pid: number): Marks => marksIn(read(pid, 'cgroup')?.toString() ?? '')

/** PF_EXITING of the kernel. */
const exiting = 0x4
const nul = Buffer.from([0])
const atOnce = 64

/** These files are made by the kernel as they are read: waiting for each costs ten times what reading it does. */
async function eachPid<T>(signal: AbortSignal, ask: (pid: number) => T | undefined): Promise<T[]> {
  const pids = (await fs.readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found: T[] = []
  for (let i = 0; i < pids.length; i += atOnce) {
    signal.throwIfAborted()
    for (const pid of pids.slice(i, i + atOnce)) {
      const answer = ask(pid)
      if (answer !== undefined) found.push(answer)
    }
    await turn()
  }
  return found
}

function read(pid: number, file: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

function gone(error: unknown): undefined {
  if (!isGone(error)) throw error
}

/** It ended meanwhile, or it is another user's. */
const isGone = (error: unknown): boolean =>
  ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')

/** The name is in brackets and may hold brackets and spaces itself: the fields begin after the last one. */
export function parseStat(text: string) {
  const end = text.lastIndexOf(')')
  if (end === -1) return undefined
  const fields = text.slice(end + 2).split(' ')
  const field = (number: number): string => fields[number - 3] ?? ''
  return {
    name: text.slice(text.indexOf('(') + 1, end),
    state: field(3),
    parent: Number(field(4)),
    group: Number(field(5)),
    session: Number(field(6)),
    // Its environment is gone before it is.
    isEnding: 'ZX'.includes(field(3)) || (Number(field(9)) & exiting) !== 0,
    cpuTicks: Number(field(14)) + Number(field(15)),
    birth: field(22),
    pages: Number(field(24)),
  }
}

async function bootTime(): Promise<number> {
  const text = await fs.readFile('/proc/stat', 'utf8')
  return Number(/^btime (\d+)$/m.exec(text)?.[1] ?? 0) * 1000
}

/** The sizes of a page and a tick, as the kernel tells every program at its start. */
function units(): { readonly pageBytes: number; readonly ticksPerSecond: number } {
  const auxv = readFileSync('/proc/self/auxv')
  const told = new Map<bigint, number>()
  for (let at = 0; at + 16 <= auxv.length; at += 16)
    told.set(auxv.readBigUInt64LE(at), Number(auxv.readBigUInt64LE(at + 8)))
  return { pageBytes: told.get(6n) ?? 4096, ticksPerSecond: told.get(17n) ?? 100 }
}
