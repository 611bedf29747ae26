import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'

const taste = [
  'set -g prefix C-a',
  'set -g status on',
  'set -g base-index 1',
  'set -g remain-on-exit off',
  'set -g destroy-unattached off',
  'bind-key -n C-q display-message mine',
  'set-hook -g session-created "set -g @seen yes"',
].join('\n')

/** The same things happen on Muster's own server and on the user's. */
const forms = [
  { form: 'muster', person: undefined },
  { form: 'default', person: `${taste}\n` },
] as const

type Daemon = Awaited<ReturnType<typeof sessionDaemon>>

const names = (m: Daemon) =>
  m.tmux('list-sessions', '-F', '#{session_name}').trim().split('\n').filter(Boolean).sort()
const type = (m: Daemon, terminal: string, line: string) =>
  m.tmux('send-keys', '-t', `=${terminal}:`, line, 'Enter')
/** All that a person could have set for the whole server. */
const globals = (m: Daemon) =>
  [
    ['show-options', '-g'],
    ['show-options', '-gw'],
    ['show-options', '-s'],
    ['show-hooks', '-g'],
    ['list-keys'],
  ].map((command) => m.tmux(...command))

async function open({ person }: (typeof forms)[number]) {
  const m = await sessionDaemon(person === undefined ? {} : { person })
  if (person !== undefined) m.tmux('new-session', '-d', '-s', 'mine', 'sleep 600')
  const before = person === undefined ? undefined : globals(m)
  return { m, before, theirs: person === undefined ? [] : ['mine'] }
}

describe.each(forms)('[SM-103] tmux.socket: $form', (form) => {
  const server = shared(() => open(form))

  test('[SM-102][SM-103] sessions are there by name, are typed into, end, and leave the server as it was', async () => {
    const { m, before, theirs } = await server()
    const [one, two] = [await m.spawnShell(), await m.spawnShell()]
    expect(one.tmux_session).toBe(`custom-${one.session_id}`)
    expect(names(m)).toEqual([one.tmux_session, two.tmux_session, 'muster-anchor', ...theirs].sort())
    type(m, one.tmux_session, 'echo in $((40 + 2)); exit 7')
    const ended = await eventually(
      () => m.client.getSession({ id: one.id }),
      ({ status }) => status === 'error',
    )
    expect(ended.completion_message).toContain('exit code 7')
    expect((await m.client.getOutput({ id: one.id })).lines.join('\n')).toContain('in 42')
    const { argv } = await m.client.getAttach({ id: two.id })
    expect(
      spawnSync(argv[0] as string, [...argv.slice(1, -3), 'has-session', ...argv.slice(-2)]).status,
    ).toBe(0)
    if (before) expect(globals(m)).toEqual(before)

    await m.client.killSession({ id: one.id })
    await m.client.killSession({ id: two.id })
    expect(names(m)).toEqual(['muster-anchor', ...theirs].sort())
    expect(m.processes()).toEqual([])
    if (before) expect(globals(m)).toEqual(before)
  })

  test('[SM-73] a restarted daemon finds its sessions there, and theirs are not touched', async () => {
    const { m, theirs } = await server()
    const one = await m.spawnShell()
    await m.restart('SIGKILL')
    expect((await m.client.restoreSessions({})).sessions).toMatchObject([{ result: 'running' }])
    type(m, one.tmux_session, 'echo still $((1 + 1))')
    await eventually(
      async () => (await m.client.getOutput({ id: one.id })).lines.join('\n'),
      (text) => text.includes('still 2'),
    )
    expect(names(m)).toEqual([one.tmux_session, 'muster-anchor', ...theirs].sort())
    await m.client.killSession({ id: one.id })
    expect(m.processes()).toEqual([])
  })

  test('[SM-72] after a kill-server the sessions are over, with their processes, and the next one starts', async () => {
    const { m } = await server()
    const one = await m.spawnShell()
    type(m, one.tmux_session, 'trap "" HUP; setsid sleep 1000 & echo ready')
    await eventually(
      async () => m.processes().length,
      (count) => count >= 2,
    )
    m.tmux('kill-server')
    // A program of one's own cannot be brought back, and is told as lost.
    await eventually(
      () => m.client.getSession({ id: one.id }),
      ({ status, completion_message }) =>
        status === 'error' && (completion_message ?? '').includes('no conversation to continue'),
    )
    await eventually(
      async () => m.processes(),
      (left) => left.length === 0,
    )
    const two = await m.spawnShell()
    expect(names(m)).toEqual([two.tmux_session, 'muster-anchor'].sort())
    expect(m.tmux('show-options', '-gv', 'prefix').trim()).toBe(form.person === undefined ? 'None' : 'C-a')
  })
})

test('[SM-103] two daemons on the user’s server keep to their own sessions', async () => {
  const one = await sessionDaemon({ person: '' })
  const first = await one.spawnShell()
  const two = await sessionDaemon({ person: '', env: one.sockets as Record<string, string> })
  const second = await two.spawnShell()
  expect(names(one)).toEqual([first.tmux_session, second.tmux_session, 'muster-anchor'].sort())
  await one.restart('SIGKILL')
  await two.restart('SIGKILL')
  expect(names(one)).toEqual([first.tmux_session, second.tmux_session, 'muster-anchor'].sort())
  await one.client.killSession({ id: first.id })
  expect((await two.client.getOutput({ id: second.id })).is_alive).toBe(true)
})
