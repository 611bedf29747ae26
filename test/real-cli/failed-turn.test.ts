import { expect, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli, newestOfEach } from '../support/clis.ts'
import { eventually } from '../support/session-daemon.ts'

/** A provider that refuses: everywhere the same word, told to whoever waits and to the parent, and left by the next prompt. */
test.for(clis)(
  '[MUS-311][MUS-312] $name $version: a turn that failed is failed wherever it is shown, until the next prompt',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const m = await cliSessions(name, { version, config: 'child_agents: { mode: manual }\n' })
    const parent = await m.spawnShell()
    const refused = scripted([{ status: 400 }], 'Do something.')
    const child = await m.spawn(refused, { parent: parent.session_id })
    const id = child.session_id

    const waited = await m.sm('wait', id, '--for', 'idle', '--timeout', '240')
    expect(waited.code).toBe(1)
    const session = await m.client.getSession({ id })
    expect(session).toMatchObject({ status: 'failed', is_alive: true, completion_status: null })
    expect(session.detail).toContain('failed')
    expect((await m.client.getProgress({ id })).status).toBe('failed')
    expect((await m.sm('all')).text).toMatch(/!failed/)
    expect((await m.sm('events', id)).text).toMatch(/failed:/)
    await eventually(
      () => m.client.listMessages({ id: parent.session_id }),
      ({ messages }) => messages.filter(({ preview }) => preview.includes('last turn failed')).length === 1,
    )

    // Also for a daemon that did not see it happen.
    await m.restart('SIGKILL')
    await eventually(
      () => m.client.getSession({ id }),
      ({ health }) => health === 'ok',
    )
    expect(await m.client.getSession({ id })).toMatchObject({ status: 'failed', detail: session.detail })

    await m.client.sendMessage({ id, text: scripted([{ text: 'Now it works.' }], 'Again.') })
    await eventually(
      () => m.client.getSession({ id }),
      ({ status, detail }) => status === 'idle' && detail === null,
    )
    const runs = await m.client.listAgentRuns({ session_id: id })
    expect(runs.map(({ status }) => status).toSorted()).toEqual(['completed', 'failed'])
  },
)

/** What a provider or its lack refuses with; where a CLI asks again for minutes, it is told to do so once only. */
const refusals: readonly [cli: string, what: string, step: object, env: Readonly<Record<string, string>>][] =
  [
    ['claude', '401', { status: 401 }, { CLAUDE_CODE_MAX_RETRIES: '1' }],
    ['claude', '429', { status: 429 }, { CLAUDE_CODE_MAX_RETRIES: '1' }],
    ['codex', '401', { status: 401 }, {}],
    ['codex', '429', { status: 429 }, {}],
    ['codex', 'a missing key', { text: 'It works.' }, { SCRIPTED_KEY: '' }],
    ['opencode', '401', { status: 401 }, {}],
    ['gemini', '401', { status: 401 }, {}],
    ['pi', '401', { status: 401 }, {}],
  ]

test.for(
  newestOfEach.flatMap((cli) =>
    refusals.flatMap(([name, what, step, env]) => (name === cli.name ? [{ ...cli, what, step, env }] : [])),
  ),
)('[MUS-311] $name $version: a turn that $what refused is failed', async (cli, { skip }) => {
  const { name, version, step, env } = cli
  if (cliPath(name, version) === undefined) return skip(missingCli(cli))
  const m = await cliSessions(name, { version, env, config: 'child_agents: { mode: manual }\n' })
  const { session_id: id } = await m.spawn(scripted([step], 'Do something.'))
  expect((await m.sm('wait', id, '--for', 'idle', '--timeout', '120')).code).toBe(1)
  expect(await m.client.getSession({ id })).toMatchObject({ status: 'failed', is_alive: true })
})
