import { spawn, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { closeGroup, openGroup } from '../../src/adapters/system/control-groups.ts'
import { systemProcesses } from '../../src/adapters/system/processes.ts'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { users } from '../support/users.ts'

type Daemon = Awaited<ReturnType<typeof sessionDaemon>>

const terminals = (m: Daemon) => m.tmux('list-sessions', '-F', '#{session_name}').trim().split('\n').sort()

/** A shell with something in the background that left its terminal, and that has ended by itself. */
async function ended(m: Daemon) {
  const before = m.processes().length
  const one = await m.spawnShell()
  await m.type(one.tmux_session, 'setsid sleep 1000 & echo so it was')
  await eventually(
    async () => m.processes().length,
    (count) => count >= before + 2,
  )
  await m.type(one.tmux_session, 'exit 3')
  await eventually(
    () => m.client.getSession({ id: one.session_id }),
    ({ status }) => status === 'error',
  )
  return one
}

test('[MUS-235][SM-57] of a program that ended by itself nothing is left but its screen, which stays to be looked at', async () => {
  const m = await sessionDaemon()
  const one = await m.spawnShell()
  const { client } = m.as(one.session_id)
  const over = await ended(m)
  await eventually(
    async () => m.processes().length,
    (count) => count === 1,
  )
  await eventually(
    async () => existsSync(join(m.home, 'sessions', over.session_id)),
    (isThere) => !isThere,
  )
  expect(await client.whoAmI({})).toMatchObject({ session: { session_id: one.session_id } })
  const shown = await m.client.getOutput({ id: over.session_id })
  expect(shown.lines.join('\n')).toContain('so it was')
  expect(shown.is_alive).toBe(false)

  await m.restart('SIGKILL')
  expect(terminals(m)).toEqual([one.tmux_session, over.tmux_session, 'muster-anchor'].sort())
  expect(await m.client.killSession({ id: over.session_id })).toEqual({ killed: [], left: [], suspects: [] })
  expect(terminals(m)).toEqual([one.tmux_session, 'muster-anchor'])
  await expect(m.client.killSession({ id: over.session_id })).rejects.toMatchObject({ code: 'conflict' })
})

test('[SM-57] with close_tmux_session its screen goes too', async () => {
  const m = await sessionDaemon({
    config: 'clis: { shell: { command: bash } }\nchild_agents: { cleanup: { close_tmux_session: true } }\n',
  })
  await ended(m)
  await eventually(
    async () => terminals(m),
    (names) => names.length === 1,
  )
  expect(m.processes()).toEqual([])
})

test('[SM-73][MUS-235] a session that said it is done and still runs is taken up by the next daemon', async () => {
  const m = await sessionDaemon()
  const one = await m.spawnShell()
  const { client, token } = m.as(one.session_id)
  await client.completeSession({ id: one.session_id, message: 'done' })
  await m.restart('SIGKILL')
  const { sessions } = await m.client.listSessions({ open: true })
  expect(sessions.map(({ session_id, status }) => [session_id, status])).toEqual([
    [one.session_id, 'completed'],
  ])
  expect(m.as(one.session_id).token).toBe(token)
  expect(await m.as(one.session_id).client.whoAmI({})).toMatchObject({ operator: false })
  const { killed } = await m.client.killSession({ id: one.session_id })
  expect(killed).toHaveLength(1)
  expect(m.processes()).toEqual([])
  expect(terminals(m)).toEqual(['muster-anchor'])
})

test('[MUS-235] sm ps shows what a session that is over left behind, and sm kill ends it', async () => {
  const m = await sessionDaemon()
  const [over, running] = [await m.spawnShell(), await m.spawnShell()]
  await m.client.killSession({ id: over.session_id, force: true })
  const env = { PATH: process.env.PATH, MUSTER_HOME: m.home, MUSTER_SESSION: over.id }
  const leave = () => spawn('sleep', ['1000'], { env, detached: true, stdio: 'ignore' })
  let left = leave()
  let since = performance.now()
  onTestFinished(() => void left.kill('SIGKILL'))
  const { processes } = await eventually(
    async () => {
      // The kill looks once more for what came late, and may have found this one.
      if (left.signalCode !== null) [left, since] = [leave(), performance.now()]
      return m.client.listProcesses({})
    },
    (found) =>
      performance.now() - since > 3000 && found.processes.some(({ command }) => command === 'sleep 1000'),
  )
  expect(Object.fromEntries(processes.map(({ session_id, is_orphan }) => [session_id, is_orphan]))).toEqual({
    [over.session_id]: true,
    [running.session_id]: false,
  })
  await m.client.killSession({ id: over.session_id })
  await eventually(
    () => m.client.listProcesses({}),
    (found) => found.processes.length === 1,
  )
})

test('[SM-82] a kill goes on when its caller hangs up, also when the caller is the session itself', async () => {
  const m = await sessionDaemon()
  const deaf = await m.spawnShell()
  await m.type(deaf.tmux_session, "trap 'echo asked' TERM HUP INT; clear; echo deaf")
  await eventually(
    () => m.client.getOutput({ id: deaf.session_id }),
    ({ lines }) => lines.join('').startsWith('deaf'),
  )
  const own = await m.spawnShell()
  const hangUp = new AbortController()
  const killing = m.client.killSession({ id: deaf.session_id }, { signal: hangUp.signal })
  killing.catch(() => {})
  await eventually(
    async () => m.tmux('capture-pane', '-p', '-t', `=${deaf.tmux_session}:`),
    (screen) => screen.includes('asked'),
  )
  hangUp.abort()
  await expect(killing).rejects.toThrow()
  await m.type(own.tmux_session, `sm kill ${own.session_id}`)
  await eventually(
    async () => [m.processes(), terminals(m)] as const,
    ([processes, names]) => processes.length === 0 && names.length === 1,
  )
})

/** What a session cannot be known by any more: another terminal session, no parent, and nothing of its environment. */
const runsAway = (seconds: number) =>
  `(setsid env -i sleep ${seconds} </dev/null >/dev/null 2>&1 &) ; echo away`

const isThere = async (seconds: number) => {
  const all = await systemProcesses(systemClock).list(new AbortController().signal)
  return all.some(({ command }) => command === `sleep ${seconds}`)
}

test('[MUS-235] sm kill ends what ran away with a clean environment, and sm ps shows it until then', async ({
  skip,
}) => {
  const m = await sessionDaemon()
  const group = await openGroup({ of: 'a test' })
  await closeGroup({ of: 'a test' })
  if (group === undefined) skip('this system lets nobody make control groups here')
  const one = await m.spawnShell()
  const seconds = 100_000 + process.pid
  await m.type(one.tmux_session, runsAway(seconds))
  await eventually(
    () => isThere(seconds),
    (isRunning) => isRunning,
  )
  const { processes } = await m.client.listProcesses({})
  expect(processes.map(({ command }) => command)).toContain(`sleep ${seconds}`)
  // Found again by a daemon that did not start it.
  await m.restart('SIGKILL')
  expect(await m.client.killSession({ id: one.session_id, force: true })).toMatchObject({ left: [] })
  expect(await isThere(seconds)).toBe(false)
})

/** A daemon that can make no control group; where whoever runs the tests can, one of another user, who cannot. */
async function ungrouped() {
  const group = await openGroup({ of: 'a test' })
  await closeGroup({ of: 'a test' })
  const uid = group === undefined ? undefined : users.at(-1)?.uid
  return group === undefined || uid !== undefined ? sessionDaemon({ uid }) : undefined
}

const listed = () => systemProcesses(systemClock).list(new AbortController().signal)

const pidOf = async (seconds: number) =>
  (await listed()).find(({ command }) => command === `sleep ${seconds}`)?.pid

/** Ends what a test left on purpose. */
function endLater(...seconds: number[]): void {
  onTestFinished(async () => {
    for (const one of seconds) {
      const pid = await pidOf(one)
      if (pid !== undefined) process.kill(pid, 'SIGKILL')
    }
  })
}

test('[MUS-235][MUS-363] without control groups what ran away with a clean environment is named as a suspect, told by sm kill, and not ended', async ({
  skip,
}) => {
  const m = await ungrouped()
  if (m === undefined) return skip('control groups cannot be switched off here')
  const work = m.folder('mleft-')
  const [elsewhere, run, last] = [300_000 + process.pid, 400_000 + process.pid, 600_000 + process.pid]
  endLater(elsewhere, run, last)
  const one = await m.spawnShell({ working_dir: work })
  // Neither what works elsewhere nor what still has whoever started it is meant.
  spawnSync('sh', ['-c', runsAway(elsewhere)], { cwd: m.folder('mleft-'), ...m.user })
  const owned = spawn('sleep', ['1000'], { cwd: work, stdio: 'ignore', env: {}, ...m.user })
  onTestFinished(() => void owned.kill('SIGKILL'))
  await m.type(one.tmux_session, runsAway(run))
  const rows = async () => {
    const { processes } = await m.client.listProcesses({})
    return processes
      .filter(({ is_suspect }) => is_suspect)
      .map(({ session_id, command, is_orphan }) => ({ session_id, command, is_orphan }))
  }
  await eventually(rows, (found) => found.some(({ command }) => command === `sleep ${run}`))
  const { session_id } = one
  const suspect = { session_id, command: `sleep ${run}` }
  expect(await rows()).toEqual([{ ...suspect, is_orphan: false }])
  const pid = await pidOf(run)
  const answer = await m.client.killSession({ id: session_id })
  expect(answer).toMatchObject({ left: [], suspects: [{ pid, command: `sleep ${run}` }] })
  expect(await pidOf(run)).toBe(pid)
  expect(await rows()).toEqual([{ ...suspect, is_orphan: true }])
  // Also for a daemon that did not see it.
  await m.restart('SIGKILL')
  expect(await rows()).toEqual([{ ...suspect, is_orphan: true }])

  const other = await m.spawnShell({ working_dir: m.folder('mleft-') })
  await m.type(other.tmux_session, runsAway(last))
  await eventually(rows, (found) => found.some(({ command }) => command === `sleep ${last}`))
  const { killed, suspects } = await m.client.shutdown({ sessions: true })
  expect([killed, suspects?.map(({ command }) => command)]).toEqual([1, [`sleep ${last}`]])
})

test('[MUS-363] without control groups what was seen once is known later, wherever it has got to', async ({
  skip,
}) => {
  const m = await ungrouped()
  if (m === undefined) return skip('control groups cannot be switched off here')
  const one = await m.spawnShell({ working_dir: m.folder('mleft-') })
  const go = join(m.folder('mleft-'), 'go')
  const seconds = 500_000 + process.pid
  endLater(seconds)
  // One process all along: first a child of the session without its mark, then nobody's, elsewhere.
  const child = `until [ -e ${go} ]; do sleep 0.05; done; cd /; exec setsid sleep ${seconds}`
  await m.type(one.tmux_session, `bash -c 'env -i bash -c "$0" </dev/null >/dev/null 2>&1 & wait' '${child}'`)
  const own = async () => {
    const { processes } = await m.client.listProcesses({})
    const isIt = (command: string) => command.includes('until [') && !command.includes('wait')
    return processes.filter(({ command, is_suspect }) => isIt(command) && !is_suspect)
  }
  const [seen] = await eventually(own, (found) => found.length === 1)
  const parent = async () => (await listed()).find(({ pid }) => pid === seen?.pid)?.parent
  const before = await parent()
  m.tmux('send-keys', '-t', `=${one.tmux_session}:`, 'C-c')
  await eventually(parent, (now) => now !== undefined && now !== before)
  writeFileSync(go, '')
  await eventually(
    () => pidOf(seconds),
    (pid) => pid !== undefined,
  )
  expect(await pidOf(seconds)).toBe(seen?.pid)
  const killed = await m.client.killSession({ id: one.session_id, force: true })
  expect(killed).toMatchObject({ left: [], suspects: [] })
  expect(await isThere(seconds)).toBe(false)
})

test('[MUS-235] sm down --sessions leaves no program, no terminal and no tmux server', async () => {
  const m = await sessionDaemon()
  const [one] = [await m.spawnShell(), await ended(m)]
  await m.type(one.tmux_session, 'sleep 1000 &')
  await m.restart('SIGKILL')
  await m.client.shutdown({ sessions: true })
  await m.daemon.kill('SIGCONT')
  expect(m.processes()).toEqual([])
  expect(terminals(m)).toEqual([''])
})

test('[MUS-235] sm down alone leaves the terminals of sessions that run or stand to be looked at', async () => {
  const m = await sessionDaemon()
  const one = await ended(m)
  await m.client.shutdown({})
  await m.daemon.kill('SIGCONT')
  expect(terminals(m)).toEqual(['muster-anchor', one.tmux_session].sort())
})
