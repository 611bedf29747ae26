import { spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { accountFor } from '../support/survival.ts'
import { plant } from '../support/temp-engine.ts'

const table = async (m: Awaited<ReturnType<typeof sessionDaemon>>, isDry = false) => {
  const { sessions } = await m.client.restoreSessions(isDry ? { dry_run: true } : {})
  return Object.fromEntries(sessions.map(({ session_id, result }) => [session_id, result]))
}

test('[MUS-135][SM-73] after kill -9 of the daemon every session is accounted for, whatever it was doing', async () => {
  const m = await sessionDaemon()
  expect(await accountFor(m, 10)).toEqual({ running: 7, gone: 3 })
})

test('[MUS-135][SM-73] sessions of each kind are as they were after a kill -9 of the daemon', async () => {
  const m = await sessionDaemon()
  const parent = await m.spawnShell({ name: 'parent' })
  const orphan = await m.as(parent.session_id).client.spawnSession({ agent_type: 'shell', prompt: '' })
  const done = await m.spawnShell({ name: 'done' })
  const killed = await m.spawnShell({ name: 'killed' })
  const leaving = await m.spawnShell({ name: 'leaving' })
  await m.client.completeSession({ id: done.session_id, message: 'Done' })
  await m.client.killSession({ id: killed.session_id })
  await m.type(parent.tmux_session, 'exit 3')
  await eventually(
    () => m.client.getSession({ id: orphan.session_id }),
    ({ status }) => status === 'abandoned',
  )
  m.daemon.process.kill('SIGSTOP')
  await m.type(leaving.tmux_session, 'exit 4')
  await m.gone(leaving.tmux_session)
  await m.restart('SIGKILL')

  expect(await table(m)).toEqual({ [leaving.session_id]: 'gone' })
  const of = async (id: string) => {
    const { status, is_alive } = await m.client.getSession({ id })
    return [status, is_alive]
  }
  expect(await of(done.session_id)).toEqual(['completed', true])
  expect(await of(orphan.session_id)).toEqual(['abandoned', true])
  expect(await of(killed.session_id)).toEqual(['killed', false])
  expect(await of(parent.session_id)).toEqual(['error', false])
  expect(await of(leaving.session_id)).toEqual(['error', false])
  // One that said it is done is still there to be told more.
  await m.client.sendMessage({ id: done.session_id, text: 'echo again > again.txt' })
  await eventually(
    () => m.client.getSession({ id: done.session_id }),
    ({ status }) => status !== 'completed',
  )
})

test('[MUS-135][SM-72] without its tmux a program of one’s own is gone, once, and a look before it changes nothing', async () => {
  const m = await sessionDaemon({
    config: 'clis: { shell: { command: bash } }\nsessions: { auto_restore: false }\n',
  })
  const one = await m.spawnShell()
  expect(await table(m, true)).toEqual({ [one.session_id]: 'running' })
  m.tmux('kill-server')
  const lost = await eventually(
    () => m.client.getSession({ id: one.session_id }),
    ({ status }) => status === 'error',
  )
  expect(lost.is_alive).toBe(false)
  // That its terminal is lost is seen before its end is written.
  const ends = () =>
    m.client.listEvents({ session: one.session_id, type: 'session.failed,session.completed' })
  await eventually(ends, ({ events }) => events.length > 0)
  const { sessions } = await m.client.restoreSessions({})
  expect((await ends()).events).toHaveLength(1)
  expect(sessions).toMatchObject([{ result: 'gone', why: expect.stringContaining('no conversation') }])
})

test('[MUS-235] a process that got the pid of a session’s program later is not ended with the session', async () => {
  const m = await sessionDaemon()
  const bystander = (): number => {
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
    onTestFinished(() => {
      child.kill('SIGKILL')
    })
    return child.pid as number
  }
  const isAlive = (pid: number): boolean => {
    try {
      process.kill(pid, 0)
      return true
    } catch {
      return false
    }
  }
  /** Kills a session of which the journal says that this is the pid of its program. */
  const killWith = async (pid: number, startedMs: number): Promise<void> => {
    const session = await m.spawnShell()
    const { events } = await eventually(
      () => m.client.listEvents({ session: session.session_id, type: 'session.launched' }),
      (found) => found.events.length > 0,
    )
    const launched = events[0] as unknown as { payload: Record<string, unknown> } & Record<string, unknown>
    const { sessionId, traceId, spanId, runId, actor } = launched
    const payload = { ...launched.payload, pid, pidStartedMs: startedMs }
    const item = { sessionId, traceId, spanId, runId, actor, type: 'session.launched', payload }
    await m.restart('SIGKILL', () => plant(m.home, [item]))
    await m.client.killSession({ id: session.session_id, force: true })
  }
  const stranger = bystander()
  await killWith(stranger, Date.now() - 3_600_000)
  expect(isAlive(stranger)).toBe(true)
  // The same pid and start is the program itself: without the start nothing would tell them apart.
  const program = bystander()
  await killWith(program, Date.now())
  await eventually(
    async () => isAlive(program),
    (alive) => !alive,
  )
})
