import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { echoTty, never, ready, record, tempTmux } from '../../../test/support/temp-tmux.ts'
import { systemClock } from '../system/clock.ts'
import { openTmux } from './open-tmux.ts'

/** A person's own tmux in a world of its own: sockets and home are in a folder of the test. */
function person(config: string) {
  const home = tempFolder()
  vi.stubEnv('TMUX_TMPDIR', home)
  vi.stubEnv('HOME', home)
  vi.stubEnv('TMUX', '/nowhere/else,1,0')
  vi.stubEnv('SM_SESSION_ID', 'ses_test')
  writeFileSync(join(home, '.tmux.conf'), config)
  const env = { PATH: process.env.PATH, TMUX_TMPDIR: home, HOME: home, TERM: 'xterm' }
  const tmux = (...args: string[]) => execFileSync('tmux', args, { encoding: 'utf8', env, stdio: 'pipe' })
  onTestFinished(() => {
    spawnSync('tmux', ['kill-server'], { env })
    vi.unstubAllEnvs()
  })
  return {
    tmux,
    home,
    settings: () => ({
      session: tmux('show-options', '-g'),
      window: tmux('show-options', '-gw'),
      server: tmux('show-options', '-s'),
      hooks: tmux('show-hooks', '-g'),
      windowHooks: tmux('show-hooks', '-gw'),
      keys: tmux('list-keys'),
      environment: tmux('show-environment', '-g'),
    }),
    open: async () => {
      const terminal = await openTmux({ socket: 'default', folder: join(home, 'muster'), clock: systemClock })
      onTestFinished(() => terminal.release())
      return record(terminal)
    },
  }
}

const config = [
  'set -g prefix C-a',
  'set -g status on',
  'set -g mouse off',
  'set -g base-index 1',
  'setw -g pane-base-index 1',
  'setw -g automatic-rename on',
  'set -g detach-on-destroy off',
  'set -g default-command "false"',
  'bind-key x kill-pane',
  'bind-key -n C-q display-message mine',
  // Takes turns of its own between a new session and what is set for it.
  'set-hook -g after-new-session \'run-shell "sleep 0.1"\'',
].join('\n')

test('[SM-103] on the user’s server all works, and nothing of it is changed', async () => {
  const { tmux, settings, open, home } = person(`${config}\n`)
  tmux('new-session', '-d', '-s', 'mine', 'sleep 600')
  const before = settings()
  const terminal = await open()
  const { request } = tempTmux()

  const report = join(home, 'report')
  const one = await terminal.open(
    request('claude-1a2b3c4d', [process.execPath, echoTty, report, 'raw'], {
      workingDir: home,
      folder: home,
    }),
    never,
  )
  const gone = await terminal.open(
    request('eng-10', ['sh', '-c', 'exit 7'], { workingDir: home, folder: home }),
    never,
  )
  expect(await terminal.event({ kind: 'exited', pane: gone.pane })).toMatchObject({ code: 7 })
  await ready(terminal, one)
  await terminal.paste(one, { text: 'hello', id: 'm1' }, never)
  await terminal.keys(one, { keys: ['C-d'] }, never)
  expect(await terminal.event({ kind: 'exited', pane: one.pane })).toMatchObject({ code: 0 })
  expect((await terminal.panes(never)).map(({ name }) => name)).toEqual(['claude-1a2b3c4d', 'eng-10'])
  expect(tmux('list-sessions', '-F', '#{session_name}').trim().split('\n').toSorted()).toEqual([
    'claude-1a2b3c4d',
    'eng-10',
    'mine',
    'muster-anchor',
  ])
  expect(terminal.attachArgv(one)).toEqual([
    'tmux',
    '-S',
    expect.stringContaining(home),
    'attach',
    '-t',
    one.session,
  ])
  expect(tmux('has-session', '-t', 'claude-1a2b3c4d')).toBe('')
  await terminal.close(one, never)
  await terminal.close(gone, never)
  await terminal.release()

  expect(settings()).toEqual(before)
  expect(tmux('list-buffers')).toBe('')
  expect(tmux('list-panes', '-t', 'mine', '-F', '#{session_name} #{window_name} #{pane_dead}')).toContain(
    'mine',
  )
})

test('[SM-103] sessions outlive a setting that ends unattached ones, and the anchor one that moves clients', async () => {
  const { tmux, open, home } = person('set -g destroy-unattached on\nset -g detach-on-destroy off\n')
  const terminal = await open()
  const { request } = tempTmux()
  const one = await terminal.open(
    request('eng-1', ['sleep', '600'], { workingDir: home, folder: home }),
    never,
  )
  await terminal.release()
  expect(tmux('list-sessions', '-F', '#{session_name}').trim().split('\n').toSorted()).toEqual([
    'eng-1',
    'muster-anchor',
  ])

  const again = await open()
  expect((await again.panes(never)).map(({ pid }) => pid)).toEqual([one.pid])
  tmux('kill-session', '-t', '=muster-anchor')
  await again.event({ kind: 'restored' })
  expect(tmux('list-clients', '-F', '#{session_name}')).toBe('muster-anchor\n')
})

test('[SM-103] a server that was not running is started with the user’s settings and without our marks', async () => {
  const { tmux, open } = person('set -g prefix C-a\n')
  await open()
  expect(tmux('show-options', '-gv', 'prefix')).toBe('C-a\n')
  expect(tmux('show-options', '-gv', 'status')).toBe('on\n')
  expect(tmux('show-environment', '-g')).not.toMatch(/SM_SESSION_ID/)
})
