import { expect, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { eventually } from '../support/session-daemon.ts'

test.for(clis)(
  '[MUS-337] $name $version: a session that was killed is resumed in its conversation',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const m = await cliSessions(name, { version, config: 'child_agents: { mode: manual }\n' })
    const { session_id: id } = await m.spawn(scripted([{ text: 'The password is swordfish.' }], 'Remember.'))
    const shows = (words: string) =>
      eventually(
        async () => (await m.client.getOutput({ id, lines: 80 })).lines.join('\n'),
        (text) => text.includes(words),
      )
    const idle = () =>
      eventually(
        () => m.client.getSession({ id }),
        ({ status }) => status === 'idle',
      )
    await shows('swordfish')
    await idle()
    await m.client.killSession({ id })
    expect(await m.sm('resume', id)).toMatchObject({ code: 0 })
    // Its new terminal has the conversation of before.
    await shows('swordfish')
    await idle()
    await m.client.sendMessage({ id, text: scripted([{ text: 'It continues.' }], 'What was it?') })
    await shows('It continues.')
  },
)
