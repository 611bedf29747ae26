import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AppError } from '../../src/contract/errors.ts'
import { fleet } from '../../src/contract/ids.ts'
import { clientFor } from '../support/daemon-process.ts'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'

const usual = shared(() => sessionDaemon())
/** Where each test leaves nothing that runs. */
const empty = shared(() => sessionDaemon())

const ids = (list: readonly { session_id: string }[]) => list.map(({ session_id }) => session_id)

test('[SM-1][SM-5][SM-24][SM-95] a parent spawns children, follows them, and is told once of each end', async () => {
  const m = await usual()
  const parent = await m.spawnShell({ name: 'em' })
  const asParent = m.as(parent.session_id)
  const child = await asParent.client.spawnSession({ agent_type: 'shell', prompt: '', name: 'task1042' })
  expect(child).toMatchObject({
    name: `shell-${child.session_id}`,
    friendly_name: 'shell-task1042',
    parent_session_id: parent.session_id,
    tmux_session: `custom-${child.session_id}`,
  })
  const grandchild = await m.as(child.session_id).client.spawnSession({ agent_type: 'shell', prompt: '' })
  const direct = await m.client.listChildren({ id: parent.session_id })
  expect(ids(direct.children)).toEqual([child.session_id])
  const all = await m.client.listChildren({ id: parent.session_id, recursive: true })
  expect(ids(all.children)).toEqual([child.session_id, grandchild.session_id])

  const asChild = m.as(child.session_id)
  await asChild.client.addCheckpoint({
    id: child.session_id,
    message: 'Phase 1 (3/5)',
    metadata: { coverage: 0 },
  })
  await asChild.client.completeSession({ id: child.session_id, message: 'Feature X done' })
  const { messages } = await eventually(
    () => m.client.listMessages({ id: parent.session_id }),
    (found) => found.messages.length > 0,
  )
  expect(messages.map(({ preview }) => preview)).toEqual([
    expect.stringContaining('completed: Feature X done'),
  ])
  const { events } = await m.client.listSessionEvents({ id: parent.session_id })
  expect(events.map(({ event_type }) => event_type)).toEqual([
    'spawned',
    'spawned',
    'checkpoint',
    'completed',
  ])
  const progress = await m.client.getProgress({ id: child.session_id })
  expect(progress).toMatchObject({ completion_percentage: 100, is_complete: true })
  expect(await m.client.getSession({ id: 'shell-task1042' })).toMatchObject({
    completion_status: 'completed',
    completion_message: 'Feature X done',
    checkpoints: [{ message: 'Phase 1 (3/5)', metadata: { coverage: 0 } }],
  })
})

test('[SM-82][SM-125][MUS-235] kill ends a session and all below it, and leaves no process, terminal or file', async () => {
  const m = await empty()
  const parent = await m.spawnShell()
  const child = await m.as(parent.session_id).client.spawnSession({ agent_type: 'shell', prompt: '' })
  // A process that left its group and its terminal is found by its mark.
  await m.type(child.tmux_session, 'setsid sleep 1000 & disown')
  await eventually(
    async () => m.processes().length,
    (count) => count >= 3,
  )
  const { killed, left } = await m.client.killSession({ id: parent.session_id })
  expect(ids(killed).sort()).toEqual([parent.session_id, child.session_id].sort())
  expect(killed.every(({ status }) => status === 'killed')).toBe(true)
  expect(left).toEqual([])
  expect(m.processes()).toEqual([])
  expect(m.tmux('list-sessions', '-F', '#{session_name}').trim()).toBe('muster-anchor')
  expect(existsSync(join(m.home, 'sessions', child.session_id))).toBe(false)
})

test('[SM-72] a program that ends by itself: its exit code decides, and a closed terminal is an error', async () => {
  const m = await usual()
  const [failing, leaving, closing] = [await m.spawnShell(), await m.spawnShell(), await m.spawnShell()]
  await m.type(failing.tmux_session, 'exit 3')
  await m.type(leaving.tmux_session, 'exit 0')
  m.tmux('kill-session', '-t', `=${closing.tmux_session}`)
  const ended = async (id: string) =>
    eventually(
      () => m.client.getSession({ id }),
      ({ completion_status }) => completion_status !== null,
    )
  expect(await ended(failing.session_id)).toMatchObject({
    status: 'error',
    completion_message: expect.stringContaining('exit code 3'),
  })
  expect(await ended(leaving.session_id)).toMatchObject({ status: 'completed' })
  expect(await ended(closing.session_id)).toMatchObject({
    status: 'error',
    completion_message: expect.stringContaining('closed'),
  })
})

test('[MUS-314] what is sent to a dead program is refused with the way out, and makes nothing look alive', async () => {
  const m = await usual()
  const { session_id: id, tmux_session } = await m.spawnShell()
  const pid = Number(m.tmux('display-message', '-p', '-t', `=${tmux_session}:`, '#{pane_pid}'))
  process.kill(pid, 'SIGKILL')
  const dead = await eventually(
    () => m.client.getSession({ id }),
    ({ status }) => status === 'error',
  )
  expect(dead).toMatchObject({ is_alive: false, completion_status: 'error' })
  const refused = { code: 'conflict', message: expect.stringContaining(`sm resume ${id}`) }
  for (const mode of ['sequential', 'important', 'urgent'] as const)
    await expect(m.client.sendMessage({ id, text: ': hello', mode })).rejects.toMatchObject(refused)
  await expect(m.client.interruptSession({ id })).rejects.toMatchObject(refused)
  expect((await m.client.listMessages({ id })).messages).toEqual([])
  expect(await m.client.getSession({ id })).toMatchObject({ status: 'error', is_alive: false })
  const { events } = await m.client.listEvents({ session: id, type: 'session.reopened' })
  expect(events).toEqual([])
})

describe('[SM-84] what is not its own', () => {
  test('[SM-84][SM-117] a session reaches itself and what is below it, nothing beside or above it', async () => {
    const m = await usual()
    const parent = await m.spawnShell()
    const [a, b] = [
      await m.as(parent.session_id).client.spawnSession({ agent_type: 'shell', prompt: '' }),
      await m.as(parent.session_id).client.spawnSession({ agent_type: 'shell', prompt: '' }),
    ]
    const asA = m.as(a.session_id).client
    for (const id of [parent.session_id, b.session_id]) {
      await expect(asA.killSession({ id })).rejects.toMatchObject({ code: 'denied' })
      await expect(asA.completeSession({ id })).rejects.toMatchObject({ code: 'denied' })
      await expect(asA.getOutput({ id })).rejects.toMatchObject({ code: 'denied' })
      await expect(asA.sendMessage({ id, text: 'hello' })).rejects.toMatchObject({ code: 'denied' })
      await expect(asA.addCheckpoint({ id, message: 'm' })).rejects.toMatchObject({ code: 'denied' })
      await expect(asA.spawnSession({ agent_type: 'shell', prompt: '', parent: id })).rejects.toMatchObject({
        code: 'denied',
      })
    }
    await expect(clientFor(m.daemon.url, undefined).getOutput({ id: a.session_id })).rejects.toMatchObject({
      code: 'unauthenticated',
    })
    await expect(clientFor(m.daemon.url, 'mst_forged').whoAmI({})).rejects.toMatchObject({
      code: 'unauthenticated',
    })
    await m.client.killSession({ id: a.session_id })
    await expect(asA.whoAmI({})).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('[SM-14][SM-20] names with shell characters and unknown types are refused and start nothing', async () => {
    const m = await empty()
    for (const name of ['a;rm -rf /', '$(id)', 'a b', '../x', 'a'.repeat(65)])
      await expect(m.spawnShell({ name })).rejects.toMatchObject({ code: 'invalid' })
    await expect(
      m.client.spawnSession({ agent_type: 'nonsense', prompt: '', working_dir: '/' }),
    ).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(m.spawnShell({ working_dir: '/nowhere' })).rejects.toMatchObject({ code: 'invalid' })
    await expect(m.spawnShell({ worktree: '' })).rejects.toMatchObject({ code: 'conflict' })
    expect(m.processes()).toEqual([])
  })
})

test('[SM-116][MUS-83] each limit refuses a spawn, says which, and the refusal is an event', async () => {
  const config = (limits: string) => `clis: { shell: { command: bash } }\nlimits: { ${limits} }\n`
  const m = await sessionDaemon({ config: config('max_depth: 1, max_children: 1') })
  const parent = await m.spawnShell()
  const asParent = m.as(parent.session_id).client
  const child = await asParent.spawnSession({ agent_type: 'shell', prompt: '' })
  await expect(asParent.spawnSession({ agent_type: 'shell', prompt: '' })).rejects.toMatchObject({
    code: 'limited',
    message: expect.stringContaining('limits.max_children'),
  })
  await expect(
    m.as(child.session_id).client.spawnSession({ agent_type: 'shell', prompt: '' }),
  ).rejects.toMatchObject({ code: 'limited', message: expect.stringContaining('limits.max_depth') })
  const { events } = await eventually(
    () => m.client.listEvents({ type: 'limit.refused', limit: 10 }),
    (found) => found.events.length >= 2,
  )
  expect(events.map(({ payload }) => (payload as { limit: string }).limit).sort()).toEqual([
    'max_children',
    'max_depth',
  ])
})

test('[MUS-285][MUS-83] a spawn that is refused without a parent is a fact of the fleet', async () => {
  const config = 'clis: { shell: { command: bash } }\nlimits: { max_sessions: 1 }\n'
  const m = await sessionDaemon({ config })
  await m.spawnShell()
  await expect(m.spawnShell()).rejects.toMatchObject({ code: 'limited' })
  const { events } = await eventually(
    () => m.client.listEvents({ type: 'limit.refused', limit: 10 }),
    (found) => found.events.length > 0,
  )
  expect(events).toMatchObject([
    {
      sessionId: fleet.sessionId,
      actor: 'operator',
      payload: { limit: 'max_sessions', max: 1, current: 1, by: 'operator' },
    },
  ])
})

test('[MUS-155] a tree grows to its limits and no further, also when many spawn at once', async () => {
  const config = 'clis: { shell: { command: bash } }\nlimits: { max_children: 3, max_descendants: 5 }\n'
  const m = await sessionDaemon({ config })
  const top = await m.spawnShell()
  const spawn = (parent: string) => m.as(parent).client.spawnSession({ agent_type: 'shell', prompt: '' })
  const many = await Promise.allSettled(Array.from({ length: 9 }, () => spawn(top.session_id)))
  const children = many.flatMap((one) => (one.status === 'fulfilled' ? [one.value.session_id] : []))
  expect(children).toHaveLength(3)
  expect(
    many.filter((one) => one.status === 'rejected').map(({ reason }) => (reason as AppError).code),
  ).toEqual(Array.from({ length: 6 }, () => 'limited'))
  const below = await Promise.allSettled(children.map(spawn))
  expect(below.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  await expect(spawn(children[0] as string)).rejects.toThrow('limits.max_descendants')
  // One that has ended was started all the same.
  await m.client.killSession({ id: children[0] as string, force: true })
  await expect(spawn(children[1] as string)).rejects.toThrow('limits.max_descendants')

  let above = (await m.spawnShell()).session_id
  for (let depth = 1; depth <= 4; depth++) above = (await spawn(above)).session_id
  await expect(spawn(above)).rejects.toThrow('limits.max_depth')
})

test('[SM-73] a daemon that is killed finds every session again', async () => {
  const m = await sessionDaemon()
  const running = [await m.spawnShell(), await m.spawnShell()]
  const dying = await m.spawnShell()
  m.daemon.process.kill('SIGSTOP')
  await m.type(dying.tmux_session, 'exit 4')
  await m.gone(dying.tmux_session)
  await m.restart('SIGKILL')
  const { sessions } = await m.client.restoreSessions({})
  expect(Object.fromEntries(sessions.map(({ session_id, result }) => [session_id, result]))).toEqual({
    [running[0]?.session_id ?? '']: 'running',
    [running[1]?.session_id ?? '']: 'running',
    [dying.session_id]: 'gone',
  })
  await m.client.killSession({ id: running[0]?.session_id ?? '' })
  expect(await m.client.getSession({ id: dying.session_id })).toMatchObject({ status: 'error' })
})
