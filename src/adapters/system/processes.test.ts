import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { systemClock } from './clock.ts'
import { parseStat, procTable } from './proc-table.ts'
import { type ProcessRow, type ProcessTable, systemProcesses } from './processes.ts'
import { parseLine, psTable } from './ps-table.ts'

const processes = systemProcesses(systemClock)
const never = new AbortController().signal
const children: ChildProcess[] = []

afterEach(() => {
  vi.restoreAllMocks()
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A marked shell in a group of its own, which has written its pid when this answers. */
async function shell(script: string, options: { detached?: boolean; mark?: string } = {}) {
  const mark = { name: 'TEST_MARK', value: options.mark ?? randomUUID() }
  const pidFile = join(tempFolder(), 'pid')
  const child = spawn('sh', ['-c', script.replaceAll('PIDFILE', pidFile)], {
    detached: options.detached ?? true,
    stdio: 'ignore',
    env: { PATH: process.env.PATH, [mark.name]: mark.value },
  })
  children.push(child)
  await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n')).toBe(true)
  return { mark, child, pid: child.pid as number, written: Number(readFileSync(pidFile, 'utf8')) }
}

const isAlive = async (pid: number): Promise<boolean> =>
  (await processes.list(never)).some((info) => info.pid === pid)

test.each([
  ['/proc', procTable],
  ['ps', psTable],
])('[MUS-235] %s tells of this process', async (_name, table) => {
  const listed = await systemProcesses(systemClock, table).list(never)
  const own = listed.find(({ pid }) => pid === process.pid)
  expect(own).toMatchObject({ parent: process.ppid })
  expect(own?.command).toContain('node')
  expect(own?.rssBytes).toBeGreaterThan(10_000_000)
  // ps counts whole seconds on Linux.
  expect(own?.cpuMs).toBeGreaterThan(table === procTable ? 10 : -1)
  expect(Math.abs((own?.startedAtMs ?? 0) - performance.timeOrigin)).toBeLessThan(5000)
})

test('[MUS-235] a name with brackets and spaces does not move the fields', () => {
  const rest = 'S 7 8 9 0 -1 0 0 0 0 0 3 4 0 0 20 0 1 0 555 1000 66 0'
  expect(parseStat(`12 (a) (b c)) ${rest}`)).toMatchObject({
    name: 'a) (b c)',
    state: 'S',
    parent: 7,
    group: 8,
    session: 9,
    cpuTicks: 7,
    birth: '555',
    pages: 66,
  })
})

test('[MUS-235] lines of ps are read as macOS and Linux write them', () => {
  const mac = parseLine('  501   1   501 Ss   Sun Nov 15 23:36:48 2026   2048   1:02.50 /bin/zsh -l')
  expect(mac).toMatchObject({ pid: 501, parent: 1, group: 501, rssBytes: 2_097_152, cpuMs: 62_500 })
  expect(mac?.command).toBe('/bin/zsh -l')
  expect(parseLine('7 1 7 S Sun Nov  1 03:06:08 2026 0 1-00:00:01 [x]')?.cpuMs).toBe(86_401_000)
  expect(parseLine('8 1 8 Z Sun Nov  1 03:06:08 2026 0 00:00:01 [x] <defunct>')).toBeUndefined()
})

test('[MUS-235] a mark is found by its whole value only', async () => {
  const { mark, pid } = await shell('echo $$ > PIDFILE; exec sleep 60')
  expect(await processes.marked(mark.name, mark.value, never)).toEqual([pid])
  expect(await processes.marked(mark.name, mark.value.slice(0, -1), never)).toEqual([])
  expect(await processes.marked(mark.name, mark.value.slice(1), never)).toEqual([])
  expect(await processes.marked(mark.name.slice(1), mark.value, never)).toEqual([])
})

test.each([
  ['/proc', procTable],
  ['ps', psTable],
])('[SM-82] by %s a process and its descendants end', async (_name, table) => {
  const { mark, pid, written } = await shell("sh -c 'echo $$ > PIDFILE; exec sleep 60' & wait")
  const left = await systemProcesses(systemClock, table).endTree({ pid, mark }, { graceMs: 5000 }, never)
  expect(left).toEqual([])
  expect(await isAlive(pid)).toBe(false)
  expect(await isAlive(written)).toBe(false)
})

test('[SM-82] what left the group and the tree is found by its mark', async () => {
  const { mark, child, pid, written } = await shell(
    "setsid sh -c 'echo $$ > PIDFILE; exec sleep 60' & sleep 60",
  )
  child.kill('SIGKILL')
  await vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), 120_000)
  expect(await isAlive(written)).toBe(true)
  expect(await processes.endTree({ mark }, { graceMs: 5000 }, never)).toEqual([])
  expect(await isAlive(written)).toBe(false)
})

test('[SM-82] a child without the mark ends with the session that its root leads, though its parent has ended', async () => {
  const { mark, pid, written } = await shell(
    "(env -u TEST_MARK sh -c 'echo $$ > PIDFILE; exec sleep 60' &); exec sleep 60",
  )
  expect(await processes.endTree({ pid, mark }, { graceMs: 5000 }, never)).toEqual([])
  expect(await isAlive(written)).toBe(false)
})

test('[MUS-235] of a root that has ended, what it led is found, and a later process with its pid is left alone', async () => {
  const { mark, pid, child, written } = await shell(
    "env -u TEST_MARK sh -c 'echo $$ > PIDFILE; exec sleep 60' & sleep 60",
  )
  const innocent = await shell('echo $$ > PIDFILE; exec sleep 60')
  child.kill('SIGKILL')
  await vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), 120_000)
  const root = { pid, hasEnded: true, mark: { ...mark, value: 'nobody' } } as const
  expect(await processes.endTree(root, { graceMs: 5000 }, never)).toEqual([])
  expect(await isAlive(written)).toBe(false)
  const reused = { pid: innocent.pid, hasEnded: true, mark } as const
  expect(await processes.endTree(reused, { graceMs: 5000 }, never)).toEqual([])
  expect(await isAlive(innocent.pid)).toBe(true)
})

test('[MUS-235] all processes that carry some names are listed with the values', async () => {
  const { mark, pid } = await shell('echo $$ > PIDFILE; exec sleep 60')
  const found = await processes.carrying(['TEST_MARK', 'PATH'], never)
  expect(found.find((one) => one.pid === pid)?.values).toEqual({
    TEST_MARK: mark.value,
    PATH: process.env.PATH,
  })
  expect(await processes.carrying(['TEST_MARK', 'NO_SUCH_NAME'], never)).toEqual([])
})

test('[SM-82] a process gets its grace, and one that will not go is ended after it', async () => {
  const polite = await shell(
    "trap 'echo 7 > PIDFILE; exit 0' TERM; echo $$ > PIDFILE; while :; do sleep 0.02; done",
  )
  expect(await processes.endTree(polite, { graceMs: 10_000 }, never)).toEqual([])
  expect(polite.child.exitCode).toBe(0)

  const stubborn = await shell("trap '' TERM; echo $$ > PIDFILE; while :; do sleep 0.02; done")
  expect(await processes.endTree(stubborn, { graceMs: 100 }, never)).toEqual([])
  expect(await isAlive(stubborn.pid)).toBe(false)
})

test('[SM-82] one that starts itself anew when it is asked to end does not get away', async () => {
  const script = `trap 'setsid sh -c "sleep 60" & exit 0' TERM; echo $$ > PIDFILE; while :; do sleep 0.02; done`
  const { mark, pid } = await shell(script)
  expect(await processes.endTree({ pid, mark }, { graceMs: 3000 }, never)).toEqual([])
  expect(await processes.marked(mark.name, mark.value, never)).toEqual([])
})

test('[MUS-235] nothing in the own group is ended, marked or not', async () => {
  const { mark, pid } = await shell('echo $$ > PIDFILE; exec sleep 60', { detached: false })
  expect(await processes.endTree({ pid, mark }, { graceMs: 50 }, never)).toEqual([])
  expect(await isAlive(pid)).toBe(true)
})

test('[MUS-235] a process that started at another time than the root is not the root', async () => {
  const { pid, mark } = await shell('echo $$ > PIDFILE; exec sleep 60')
  const other = { ...mark, value: 'none' }
  const startedAtMs = systemClock.now() - 3_600_000
  expect(await processes.endTree({ pid, startedAtMs, mark: other }, { graceMs: 50 }, never)).toEqual([])
  expect(await isAlive(pid)).toBe(true)
  const told = (await processes.list(never)).find((info) => info.pid === pid)?.startedAtMs as number
  expect(await processes.endTree({ pid, startedAtMs: told, mark: other }, { graceMs: 5000 }, never)).toEqual(
    [],
  )
  expect(await isAlive(pid)).toBe(false)
})

test.each([
  ['/proc', procTable],
  ['ps', psTable],
])(
  '[MUS-235] %s tells when one process started, and nothing of one that is not there',
  async (_name, table) => {
    const one = systemProcesses(systemClock, table)
    const listed = (await one.list(never)).find((info) => info.pid === process.pid)
    expect(Math.abs(((await one.startedAt(process.pid)) ?? 0) - (listed?.startedAtMs ?? 0))).toBeLessThan(
      1100,
    )
    expect(await one.startedAt(2 ** 22 + 1)).toBeUndefined()
  },
)

test.each([
  ['/proc', procTable],
  ['ps', psTable],
])(
  '[MUS-235] %s: one that has ended and is not yet waited for did not start any more',
  async (_name, table) => {
    // Its parent is stopped, so nobody waits for it.
    const { pid, written } = await shell('sleep 60 & echo $! > PIDFILE; wait')
    const one = systemProcesses(systemClock, table)
    expect(await one.startedAt(written)).toBeDefined()
    process.kill(pid, 'SIGSTOP')
    process.kill(written, 'SIGKILL')
    await vi.waitFor(async () => expect(await isAlive(written)).toBe(false), 120_000)
    expect(existsSync(`/proc/${written}`)).toBe(true)
    expect(await one.startedAt(written)).toBeUndefined()
    process.kill(pid, 'SIGCONT')
  },
)

test('[MUS-240] a variable of a process is told by its whole name', async () => {
  const { mark, pid } = await shell('echo $$ > PIDFILE; exec sleep 60')
  expect(await processes.variable(pid, mark.name)).toBe(mark.value)
  expect(await processes.variable(pid, mark.name.slice(1))).toBeUndefined()
  expect(await processes.variable(2 ** 22 + 1, mark.name)).toBeUndefined()
})

test('[MUS-235] an aborted end stops', async () => {
  const { pid, mark } = await shell("trap '' TERM; echo $$ > PIDFILE; while :; do sleep 0.02; done")
  await expect(
    processes.endTree({ pid, mark }, { graceMs: 60_000 }, AbortSignal.timeout(200)),
  ).rejects.toThrow()
  expect(await isAlive(pid)).toBe(true)
})

/** Signals go nowhere; the rows are what each look finds. */
function pretend(
  looks: readonly (readonly Partial<ProcessRow>[])[],
  birthNow: Record<number, string> = {},
  whereabouts: ProcessTable['whereabouts'] = async () => undefined,
) {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
  let look = 0
  const table: ProcessTable = {
    rows: async () => (looks[Math.min(look++, looks.length - 1)] ?? []) as ProcessRow[],
    marked: async () => [],
    carrying: async () => [],
    startedAt: async () => 0,
    variable: async () => undefined,
    whereabouts,
    isSame: async ({ pid, birth }) => (birthNow[pid] ?? birth) === birth,
  }
  const clock = { ...systemClock, sleep: async () => {} }
  return { kill, processes: systemProcesses(clock, table) }
}
const row = (pid: number, more: Partial<ProcessRow> = {}) => ({
  pid,
  parent: 1,
  group: pid,
  session: pid,
  birth: 'a',
  startedAtMs: 0,
  command: 'x',
  ...more,
})
const mark = { name: 'X', value: 'y' }

test('[MUS-235] pid 1, this process and its group get no signal, whatever the list says', async () => {
  const looks = [
    [
      row(1, { parent: 5000 }),
      row(process.pid, { group: 77, parent: 5000 }),
      row(88, { group: 77, parent: 5000 }),
      row(5000),
    ],
    [],
  ]
  const { kill, processes } = pretend(looks)
  await processes.endTree({ pid: 5000, mark }, { graceMs: 50 }, never)
  expect(kill.mock.calls).toEqual([[5000, 'SIGTERM']])
})

test('[MUS-235] a pid that was given to another process gets no signal', async () => {
  const look = [row(5000), row(5001, { parent: 5000, group: 5000 })]
  const between = pretend([look, []], { 5001: 'b' })
  await between.processes.endTree({ pid: 5000, mark }, { graceMs: 50 }, never)
  expect(between.kill.mock.calls).toEqual([[5000, 'SIGTERM']])
  vi.restoreAllMocks()

  // After the first look both have ended, and a stranger with a group of its own has the pid of the root.
  const strangers = [row(5000, { birth: 'b' }), row(6000, { parent: 5000, group: 5000, session: 5000 })]
  const later = pretend([look, strangers])
  expect(await later.processes.endTree({ pid: 5000, mark }, { graceMs: 50 }, never)).toEqual([])
  expect(later.kill.mock.calls.map(([pid]) => pid)).toEqual([5000, 5001])
})

test('[MUS-235] what cannot be ended is told', async () => {
  const { processes } = pretend([[row(5000)]])
  expect(await processes.endTree({ pid: 5000, mark }, { graceMs: 0 }, never)).toEqual([5000])
})

const family = (known: ReadonlyMap<number, string> = new Map()) => [{ pid: 5000, startedAtMs: 0, known }]

test('[MUS-363] who was seen to belong to a program is known after it left its parents, until its pid is another’s', async () => {
  const { processes } = pretend([
    [row(5000), row(5001, { parent: 5000 }), row(6000)],
    [row(5001), row(6000)],
    [row(5001), row(5002, { parent: 5001 })],
    [row(5001, { birth: 'b' }), row(5002, { birth: 'b', group: 5000, session: 5000 })],
  ])
  let known: ReadonlyMap<number, string> = new Map()
  const look = async () => {
    const [next = new Map()] = await processes.kin(family(known), never)
    known = next
    return [...known.keys()]
  }
  expect(await look()).toEqual([5000, 5001])
  expect(await look()).toEqual([5001])
  expect(await look()).toEqual([5001, 5002])
  // The root was forgotten with the last that it led: whoever has its pid now leads others.
  expect(await look()).toEqual([])
})

test('[MUS-363] a root with another start is another process', async () => {
  const { processes } = pretend([[row(5000, { startedAtMs: 9000 }), row(5001, { parent: 5000 })]])
  expect(await processes.kin(family(), never)).toEqual([new Map()])
})

test('[MUS-363] an end takes along who was seen to belong to it', async () => {
  const look = [row(5001), row(5002, { parent: 5001 }), row(5003, { birth: 'b' })]
  const { kill, processes } = pretend([look, []])
  const known = new Map([5001, 5003].map((pid) => [pid, 'a']))
  await processes.endTree({ known, mark }, { graceMs: 50 }, never)
  expect(kill.mock.calls.map(([pid]) => pid)).toEqual([5001, 5002])
})

test('[MUS-363] a stray is of this user, has neither parent nor mark, and is where it is looked for', async () => {
  const folder = tempFolder()
  const inside = join(folder, 'inside')
  const places: Record<number, { places: string[]; isMarked: boolean }> = {
    5000: { places: [inside], isMarked: false },
    5001: { places: ['/elsewhere', join(folder, 'log')], isMarked: false },
    5002: { places: [inside], isMarked: true },
    5003: { places: ['/elsewhere', `${folder}2`], isMarked: false },
    5004: { places: [inside], isMarked: false },
    // What holds a program in a terminal, and what whoever took that took besides.
    60: { places: [inside], isMarked: false },
    5006: { places: [inside], isMarked: false },
  }
  const rows = [
    ...[5000, 5001, 5002, 5003, 5005].map((pid) => row(pid)),
    row(5004, { parent: 4000 }),
    row(60, { parent: 50 }),
    row(70, { parent: 60 }),
    row(5006, { parent: 50 }),
  ]
  const { processes } = pretend([rows], {}, async (pid) => places[pid])
  const found = await processes.strays({ mark: 'X', folders: [folder, '/none'], programs: [70] }, never)
  expect(found.map(({ pid, folders }) => [pid, folders])).toEqual(
    [5000, 5001, 5006].map((pid) => [pid, [folder]]),
  )
})

test('[MUS-363] a process is found by its folder and its open files, with the mark that it carries', async () => {
  const folder = tempFolder()
  const { mark: carried, pid } = await shell(`cd ${folder}; exec 3>log; echo $$ > PIDFILE; exec sleep 60`)
  const found = await procTable.whereabouts(pid, carried.name)
  expect(found?.isMarked).toBe(true)
  expect(found?.places).toEqual(expect.arrayContaining([folder, join(folder, 'log')]))
  expect((await procTable.whereabouts(pid, 'NO_SUCH_NAME'))?.isMarked).toBe(false)
  expect(await procTable.whereabouts(2 ** 22 + 1, 'X')).toBeUndefined()
})
