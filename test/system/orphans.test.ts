import { describe, expect, test } from 'vitest'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { sized } from '../support/size.ts'

type Machine = Awaited<ReturnType<typeof sessionDaemon>>

/** A parent, its child and its grandchild. */
async function family(m: Machine) {
  const parent = await m.spawnShell({ name: 'em' })
  const child = await m.as(parent.session_id).client.spawnSession({ agent_type: 'shell', prompt: '' })
  const grandchild = await m.as(child.session_id).client.spawnSession({ agent_type: 'shell', prompt: '' })
  return { parent, child, grandchild }
}

const status = async (m: Machine, id: string) => (await m.client.getSession({ id })).status
const becomes = (m: Machine, id: string, wanted: string) =>
  eventually(
    () => status(m, id),
    (found) => found === wanted,
  )

/** How often a session came to which end. */
async function ends(m: Machine, id: string): Promise<unknown[]> {
  // Finding a session waits for the index; a list of events does not.
  await status(m, id)
  const { events } = await m.client.listEvents({ session: id, type: 'session.completed,session.failed' })
  return events.map(({ type: name, payload }) => (payload as { outcome?: string }).outcome ?? name)
}

const type = (m: Machine, session: { tmux_session: string }, text: string) =>
  m.type(session.tmux_session, text)

describe('[SM-74][SM-120] a parent that dies', () => {
  const deaths = [
    ['crashes', (m: Machine, tmux: string) => type(m, { tmux_session: tmux }, 'exit 3')],
    ['loses its terminal', async (m: Machine, tmux: string) => m.tmux('kill-session', '-t', `=${tmux}`)],
    ['is left', (m: Machine, tmux: string) => type(m, { tmux_session: tmux }, 'kill -9 $$')],
  ] as const
  test.each(deaths.slice(0, sized(deaths.length, 1)))(
    '[SM-74] and %s leaves its child abandoned, once, running and listed',
    async (_how, die) => {
      const m = await sessionDaemon()
      const { parent, child, grandchild } = await family(m)
      await die(m, parent.tmux_session)
      await becomes(m, parent.session_id, 'error')
      await becomes(m, child.session_id, 'abandoned')
      const found = await m.client.getSession({ id: child.session_id })
      expect(found).toMatchObject({ completion_status: 'abandoned', is_alive: true })
      expect(found.completion_message).toContain('shell-em')
      // Its own child has a parent that is still there.
      expect(await status(m, grandchild.session_id)).not.toBe('abandoned')
      const listed = (await m.client.listSessions({ open: true })).sessions.map((one) => one.session_id)
      expect(listed.sort()).toEqual([child.session_id, grandchild.session_id].sort())

      await m.restart('SIGKILL')
      const after = (await m.client.listSessions({ open: true })).sessions.map((one) => one.session_id)
      expect(after.sort()).toEqual([child.session_id, grandchild.session_id].sort())
      expect(await ends(m, child.session_id)).toEqual(['abandoned'])

      const adopted = await m.client.adoptSession({ id: child.session_id })
      expect(adopted).toMatchObject({ parent_session_id: null, depth: 0, completion_status: null })
      expect(await m.client.getSession({ id: grandchild.session_id })).toMatchObject({ depth: 1 })
      await m.restart('SIGKILL')
      expect(await status(m, child.session_id)).not.toBe('abandoned')
      expect(await ends(m, child.session_id)).toEqual(['abandoned'])
    },
  )

  test('[SM-74][MUS-24] by a kill takes its children along: they are killed, and nothing is abandoned', async () => {
    const m = await sessionDaemon()
    const { parent, child, grandchild } = await family(m)
    await m.client.killSession({ id: parent.session_id })
    for (const { session_id } of [parent, child, grandchild])
      expect(await ends(m, session_id)).toEqual(['killed'])
  })

  test('[SM-74] one that completed is still there for its child, until its program is gone', async () => {
    const m = await sessionDaemon()
    const { parent, child } = await family(m)
    await m.client.completeSession({ id: parent.session_id, message: 'Done' })
    // The reactor has passed the parent's end once a later end of another is told.
    const other = await m.spawnShell()
    await m.client.completeSession({ id: other.session_id })
    expect(await ends(m, child.session_id)).toEqual([])
    await m.restart('SIGKILL')
    expect(await ends(m, child.session_id)).toEqual([])
    await type(m, parent, 'exit 0')
    await becomes(m, child.session_id, 'abandoned')
    expect(await ends(m, parent.session_id)).toEqual(['completed'])
  })

  test('[SM-74] while no daemon watches leaves its child abandoned all the same', async () => {
    const m = await sessionDaemon()
    const { parent, child } = await family(m)
    m.daemon.process.kill('SIGSTOP')
    await type(m, parent, 'exit 3')
    await m.restart('SIGKILL')
    await becomes(m, child.session_id, 'abandoned')
    expect(await ends(m, child.session_id)).toEqual(['abandoned'])
    // A person who talks to it has it back as it is, and it is not abandoned a second time.
    await m.client.sendMessage({ id: child.session_id, text: 'true' })
    expect(await status(m, child.session_id)).not.toBe('abandoned')
    await m.restart('SIGKILL')
    expect(await ends(m, child.session_id)).toEqual(['abandoned'])
  })
})

test('[SM-120][MUS-24] an orphan is adopted by one above it or by a person, never by one beside it or into a circle', async () => {
  const m = await sessionDaemon({
    config: 'clis: { shell: { command: bash } }\nlimits: { max_depth: 2 }\n',
  })
  const { parent, child, grandchild } = await family(m)
  const beside = await m.as(parent.session_id).client.spawnSession({ agent_type: 'shell', prompt: '' })
  const asParent = m.as(parent.session_id).client
  await expect(
    m.as(beside.session_id).client.adoptSession({ id: child.session_id, parent: beside.session_id }),
  ).rejects.toMatchObject({ code: 'denied' })
  await expect(
    m.client.adoptSession({ id: child.session_id, parent: grandchild.session_id }),
  ).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('descendants') })
  // Two levels would hang below one that is on the first level.
  await expect(
    m.client.adoptSession({ id: child.session_id, parent: beside.session_id }),
  ).rejects.toMatchObject({ code: 'limited', message: expect.stringContaining('max_depth') })

  await type(m, child, 'exit 3')
  await becomes(m, grandchild.session_id, 'abandoned')
  await expect(
    m.client.adoptSession({ id: grandchild.session_id, parent: child.session_id }),
  ).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('has ended') })
  expect(await status(m, grandchild.session_id)).toBe('abandoned')
  const adopted = await asParent.adoptSession({ id: grandchild.session_id, parent: parent.session_id })
  expect(adopted).toMatchObject({ parent_session_id: parent.session_id, depth: 1, completion_status: null })
  await status(m, grandchild.session_id)
  const { events } = await m.client.listEvents({ session: grandchild.session_id, type: 'session.reopened' })
  expect(events.map(({ payload }) => payload)).toEqual([{ by: 'shell-em', reason: 'adopted' }])
})
