import { expect, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, missingCli, newestOfEach } from '../support/clis.ts'
import { eventually } from '../support/session-daemon.ts'

test.for(newestOfEach)(
  '[MUS-314] $name $version: what is sent to a killed program is refused with the way out, and its row stays as it is',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const m = await cliSessions(name, { version, config: 'child_agents: { mode: manual }\n' })
    const { session_id: id, tmux_session } = await m.spawn(scripted([{ text: 'Ready.' }], 'Begin.'))
    await eventually(
      () => m.client.getSession({ id }),
      ({ status }) => status === 'idle',
    )
    const { messages: before } = await eventually(
      () => m.client.listMessages({ id }),
      ({ messages }) => messages.every(({ state }) => state === 'accepted'),
    )
    process.kill(Number(m.tmux('display-message', '-p', '-t', `=${tmux_session}:`, '#{pane_pid}')), 'SIGKILL')
    const dead = await eventually(
      () => m.client.getSession({ id }),
      ({ status }) => status === 'error',
    )
    expect(dead).toMatchObject({ is_alive: false, completion_status: 'error', queued_messages: 0 })

    const refused = { code: 4, text: expect.stringContaining(`sm resume ${id}`) }
    for (const mode of [[], ['--important'], ['--urgent']])
      expect(await m.sm('send', id, 'hello', ...mode)).toMatchObject(refused)
    expect(await m.sm('interrupt', id)).toMatchObject(refused)

    expect((await m.client.listMessages({ id })).messages).toEqual(before)
    expect(await m.client.getSession({ id })).toEqual(dead)
    expect((await m.sm('all', '--closed')).text).toMatch(new RegExp(`${id} +!?error`))
    const { events } = await m.client.listEvents({ session: id, type: 'session.reopened' })
    expect(events).toEqual([])
  },
)
