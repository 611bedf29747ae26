import { execFileSync, spawnSync } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { smProgram } from '../support/programs.ts'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { tempFolder } from '../support/temp-journal.ts'

type Daemon = Awaited<ReturnType<typeof sessionDaemon>>

/** A tmux server of a person, in a folder of its own; what is typed into it goes to the program that it shows. */
function server(settings = '') {
  const folder = tempFolder('mat-')
  // Its shell may not write its history into a folder that is being removed.
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    TMUX_TMPDIR: folder,
    TERM: 'xterm',
    LANG: 'C.UTF-8',
    HISTFILE: '',
  }
  const args = (...words: string[]) => ['-f', '/dev/null', ...words]
  const tmux = (...words: string[]) =>
    execFileSync('tmux', args(...words), { encoding: 'utf8', env, stdio: 'pipe' })
  tmux('new-session', '-d', '-s', 'p', '-x', '120', '-y', '40', 'bash --norc --noprofile')
  if (settings !== '') tmux(...settings.split(' '))
  onTestFinished(() => {
    spawnSync('tmux', ['kill-server'], { env })
  })
  return {
    tmux,
    socketPath: () => tmux('display-message', '-p', '#{socket_path}').trim(),
    type: (...keys: string[]) => tmux('send-keys', '-t', 'p', ...keys),
    screen: () => tmux('capture-pane', '-p', '-t', 'p').trimEnd(),
    windows: () => tmux('list-windows', '-t', 'p', '-F', '#{window_name}').trim().split('\n'),
  }
}

const smLine = (m: Daemon, ...args: string[]) =>
  [`MUSTER_HOME=${m.home}`, process.execPath, smProgram, ...args].join(' ')

const attached = (m: Daemon, terminal: string) =>
  Number(m.tmux('display-message', '-p', '-t', `=${terminal}:`, '#{session_attached}'))

const becomes = async (look: () => unknown, wanted: unknown): Promise<void> => {
  await eventually(
    async () => look(),
    (found) => (wanted instanceof RegExp ? wanted.test(String(found)) : found === wanted),
  )
}

test('[SM-4][SM-102] in a bare terminal sm attach shows the session, keys go to it, and Ctrl-Q leaves it running', async () => {
  const m = await sessionDaemon()
  const one = await m.spawnShell()
  const terminal = server()
  terminal.type(
    `env -u TMUX -u TMUX_PANE ${smLine(m, 'attach', one.session_id)}; echo "left with $?"`,
    'Enter',
  )
  await becomes(() => attached(m, one.tmux_session), 1)
  // The prefix of a usual tmux is a key like any other here: nothing catches it on its way.
  terminal.type('echo here $((6 * 7))', 'Enter')
  await becomes(() => terminal.screen(), /here 42/)
  expect((await m.client.getOutput({ id: one.id })).lines.join('\n')).toContain('here 42')
  terminal.type('C-q')
  await becomes(() => attached(m, one.tmux_session), 0)
  await becomes(() => terminal.screen(), /left with 0/)
  expect(await m.client.getSession({ id: one.id })).toMatchObject({ completion_status: null })
})

test('[SM-102] inside the user’s tmux it is a window there: keys reach the session, the prefix stays the user’s, Ctrl-Q closes it', async () => {
  const m = await sessionDaemon()
  const one = await m.spawnShell({ name: 'looked-at' })
  const outer = server('set -g prefix C-a')
  const person = server()
  person.type(`env -u TMUX tmux -S ${outer.socketPath()} attach -t p`, 'Enter')
  await becomes(() => outer.tmux('list-clients').trim().split('\n').filter(Boolean).length, 1)
  person.type(`clear; ${smLine(m, 'attach', one.session_id)}`, 'Enter')
  await becomes(() => attached(m, one.tmux_session), 1)
  expect(outer.windows()[1]).toBe('shell-looked-at')
  person.type('echo inner $((6 * 7))', 'Enter')
  await becomes(() => person.screen(), /inner 42/)
  expect((await m.client.getOutput({ id: one.id })).lines.join('\n')).toContain('inner 42')
  // One prefix, the outer one, though a terminal lies in a terminal.
  person.type('C-a', 'c')
  await becomes(() => outer.windows().length, 3)
  person.type('C-a', 'l')
  person.type('C-b')
  person.type('C-q')
  await becomes(() => attached(m, one.tmux_session), 0)
  await becomes(() => outer.windows().includes('shell-looked-at'), false)
  expect(await m.client.getSession({ id: one.id })).toMatchObject({ completion_status: null })
})

test('[SM-102][SM-103] on the user’s own server it is switched to, and a terminal that ended is still shown', async () => {
  const m = await sessionDaemon({ person: '' })
  m.tmux('new-session', '-d', '-s', 'mine', '-x', '100', '-y', '30', 'bash --norc --noprofile')
  const one = await m.spawnShell()
  const person = server()
  person.type(`env -u TMUX TMUX_TMPDIR=${m.home} tmux attach -t mine`, 'Enter')
  await becomes(() => attached(m, 'mine'), 1)
  person.type(`clear; ${smLine(m, 'attach', one.session_id)}`, 'Enter')
  await becomes(() => attached(m, one.tmux_session), 1)
  expect(attached(m, 'mine')).toBe(0)
  person.type('echo last words; exit 3', 'Enter')
  await eventually(
    () => m.client.getSession({ id: one.id }),
    ({ status }) => status === 'error',
  )
  expect(person.screen()).toContain('last words')
})
