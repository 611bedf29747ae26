import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { eventually } from './session-daemon.ts'

/** A person's terminal, in a tmux of its own that ends with the test. */
export function person(home: string) {
  const socket = `muster-test-${randomUUID()}`
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    MUSTER_HOME: home,
    MUSTER_CONFIG: join(home, 'config.yaml'),
    PS1: '$ ',
  }
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-u', '-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8', env })
  tmux('new-session', '-d', '-c', home, '-x', '80', '-y', '24', 'exec bash --norc --noprofile')
  onTestFinished(() => {
    spawnSync('tmux', ['-L', socket, 'kill-server'], { env })
  })
  const screen = () => tmux('capture-pane', '-p')
  const shows = (pattern: RegExp) =>
    eventually(
      async () => screen(),
      (text) => pattern.test(text),
    )
  return {
    screen,
    shows,
    keys: (...keys: string[]) => tmux('send-keys', ...keys),
    type: (text: string) => tmux('send-keys', '-l', text),
    /** The line under the cursor's bar. */
    bar: () =>
      tmux('capture-pane', '-p', '-e')
        .split('\n')
        .find((line) => /\p{Cc}\[(?:[\d;]*;)?7(?:;[\d;]*)?m/u.test(line))
        ?.replaceAll(/\p{Cc}\[[\d;]*m/gu, ''),
    /** Runs a line at the prompt; outside tmux as far as programs can see. */
    run: (line: string) => tmux('send-keys', '-l', `unset TMUX TMUX_PANE; ${line}\n`),
    modes: () =>
      tmux('display', '-p', '#{alternate_on} #{cursor_flag} #{wrap_flag} #{pane_current_command}').trim(),
    /** The process that the shell runs. */
    program: () => {
      const shell = tmux('display', '-p', '#{pane_pid}').trim()
      return Number(execFileSync('ps', ['-o', 'pid=', '--ppid', shell], { encoding: 'utf8' }))
    },
    resize: (columns: number, rows: number) =>
      tmux('resize-window', '-x', String(columns), '-y', String(rows)),
  }
}
