import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ProcessRow, ProcessTable } from './processes.ts'

/** Processes as `ps` lists them, for systems without /proc; environments are not shown there. */
export const psTable: ProcessTable = {
  async rows(signal) {
    const columns = 'pid=,ppid=,pgid=,stat=,lstart=,rss=,time=,command='
    const { stdout } = await ps(['-axo', columns], { env, signal, maxBuffer: maxBytes })
    return stdout.split('\n').flatMap((line) => parseLine(line) ?? [])
  },

  marked: async () => [],
  carrying: async () => [],

  async startedAt(pid) {
    const answer = await ps(['-o', 'stat=,lstart=', '-p', String(pid)], { env }).catch(() => ({ stdout: '' }))
    const [state = '', ...started] = words(answer.stdout)
    const at = state.startsWith('Z') ? Number.NaN : Date.parse(started.join(' '))
    return Number.isNaN(at) ? undefined : at
  },

  variable: async () => undefined,
  whereabouts: async () => undefined,

  isSame: async ({ pid, birth }) => {
    // It exits with 1 when there is no such process.
    const answer = await ps(['-o', 'lstart=', '-p', String(pid)], { env }).catch(() => ({ stdout: '' }))
    return words(answer.stdout).join(' ') === birth
  },
}

const run = promisify(execFile)
const ps = (args: readonly string[], options: Parameters<typeof run>[2] & { env: NodeJS.ProcessEnv }) =>
  run('ps', args, { ...options, encoding: 'utf8' })
const maxBytes = 64 * 1024 * 1024
// Names of days and months in the language of the machine could not be read.
const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' }

export function parseLine(line: string): ProcessRow | undefined {
  const pattern =
    /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(\d+)\s+(\S+)\s(.*)$/
  const [, pid, parent, group, state, started = '', rss, time = '', command = ''] = pattern.exec(line) ?? []
  if (pid === undefined || state?.startsWith('Z') === true) return undefined
  const birth = words(started).join(' ')
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    session: 0,
    birth,
    startedAtMs: Date.parse(birth),
    rssBytes: Number(rss) * 1024,
    cpuMs: Math.round(seconds(time) * 1000),
    command: command.trim(),
  }
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

/** `1-02:03:04` or `2:03.45`. */
function seconds(time: string): number {
  const [clock = '', days = '0'] = time.split('-').reverse()
  return clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400
}
