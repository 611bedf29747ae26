import { expect, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { eventually } from '../support/session-daemon.ts'

const telling = clis.filter(({ name }) => name === 'claude' || name === 'codex')

test.for(telling)(
  '[MUS-345] $name $version: /compact is running as soon as it begins, and idle again after it',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const m = await cliSessions(name, { version, config: 'child_agents: { mode: manual }\n' })
    const { id, tmux_session } = await m.spawn(scripted([{ text: 'The notes are in notes.md.' }], 'Work.'))
    await eventually(
      () => m.client.getTranscript({ id }),
      ({ entries }) => entries.some(({ who }) => who === 'agent'),
    )
    await eventually(
      () => m.client.getSession({ id }),
      ({ status }) => status === 'idle',
    )
    const { seq } = await m.client.health({})
    await m.typeLine(tmux_session ?? '', '/compact')
    const { events } = await eventually(
      () => m.client.listEvents({ after: seq, session: id, type: 'session.state.changed' }),
      ({ events }) => events.some(({ payload }) => (payload as { to: string }).to === 'running'),
    )
    const begun = events.find(({ payload }) => (payload as { to: string }).to === 'running')
    expect(JSON.stringify(begun?.payload)).toContain('compacting')
    await eventually(
      () => m.client.getSession({ id }),
      ({ status }) => status === 'idle',
    )
  },
)
