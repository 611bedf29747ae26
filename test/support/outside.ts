import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { tempFolder } from './temp-journal.ts'

/** A tmux of a person's own, in which programs run that Muster knows nothing of; it ends with the test. */
export function outsideTmux() {
  const socket = `outside-${randomBytes(4).toString('hex')}`
  const folder = tempFolder('mo-')
  mkdirSync(folder, { recursive: true })
  const tmux = (...args: string[]) =>
    spawnSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8', cwd: folder }).stdout
  onTestFinished(() => {
    tmux('kill-server')
  })
  return {
    tmux,
    /** Runs a program with exactly this environment. */
    run(name: string, argv: readonly string[], place: { env: Record<string, string>; cwd: string }) {
      const env = Object.entries(place.env).map(([key, value]) => `${key}=${value}`)
      tmux(
        'new-session',
        '-d',
        '-s',
        name,
        '-x',
        '200',
        '-y',
        '50',
        '-c',
        place.cwd,
        'env',
        '-i',
        ...env,
        ...argv,
      )
      return Number(tmux('display-message', '-p', '-t', `=${name}:`, '#{pane_pid}').trim())
    },
    async type(name: string, text: string) {
      tmux('send-keys', '-t', `=${name}:`, '-l', text)
      // What comes at once with the text is taken for a part of it.
      await sleep(600)
      tmux('send-keys', '-t', `=${name}:`, 'Enter')
    },
    screen: (name: string) => tmux('capture-pane', '-p', '-t', `=${name}:`),
  }
}
