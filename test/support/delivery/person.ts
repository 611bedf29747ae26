import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { readClaudeScreen } from '../../../src/adapters/claude/claude-screen.ts'
import type { ScreenReading } from '../../../src/contract/signal.ts'

/** A person at a real client of a session's terminal: their keys go the way that keys go. */
export type Person = {
  keys(...keys: string[]): void
  type(text: string): void
  /** What they see. */
  look(): ScreenReading
  leave(): void
}

const tmux = (socket: string, args: readonly string[]): string =>
  spawnSync('tmux', ['-u', '-L', socket, ...args], { encoding: 'utf8' }).stdout

/** What stands on the screen of a session's terminal. */
export function readPane(socket: string, session: string, version: string): ScreenReading {
  const fields = '#{pane_width} #{pane_height} #{cursor_x} #{cursor_y}'
  const [width = 0, height = 0, x = 0, y = 0] = tmux(socket, ['display', '-p', '-t', `=${session}:`, fields])
    .split(' ')
    .map(Number)
  const lines = tmux(socket, ['capture-pane', '-p', '-t', `=${session}:`])
    .split('\n')
    .slice(0, height)
  const cursor = { x, y, isVisible: true }
  return readClaudeScreen({ lines, width, height, cursor, isInMode: false, title: '' }, version)
}

/** Sits down at a session; `leave` detaches. */
export async function sitDown(socket: string, session: string, version: string): Promise<Person> {
  const own = `${socket}-person`
  tmux(own, [
    '-f',
    '/dev/null',
    'new-session',
    '-d',
    '-s',
    session,
    '-x',
    '220',
    '-y',
    '50',
    `env -u TMUX tmux -u -L ${socket} attach -t '=${session}'`,
  ])
  tmux(own, ['set-option', '-g', 'status', 'off'])
  const here = `=${session}:`
  // What is typed before the client shows the terminal is thrown away.
  for (let tries = 0; tries < 100 && tmux(own, ['capture-pane', '-p', '-t', here]).trim() === ''; tries++)
    await sleep(50)
  /** What they scrolled away from has to be there again before they type. */
  const press = (...keys: string[]): void => {
    if (tmux(socket, ['display', '-p', '-t', here, '#{pane_in_mode}']).trim() !== '0')
      tmux(own, ['send-keys', '-t', here, 'q'])
    tmux(own, ['send-keys', '-t', here, ...keys])
  }
  return {
    keys: press,
    type: (text) => press('-l', text),
    look: () => readPane(socket, session, version),
    leave: () => void tmux(own, ['kill-session', '-t', `=${session}`]),
  }
}

/**
 * Types a draft, thinks, and sends it or takes it back. They look before they press Enter: what is not their own text
 * alone they do not send. What has nothing of theirs, because a dialog swallowed their letters, they leave alone.
 */
export async function writeDraft(
  person: Person,
  draft: string,
  { thinkMs, isSent }: { thinkMs: number; isSent: boolean },
): Promise<{ end: 'sent' | 'taken back' | 'not begun' | 'swallowed' | 'mixed'; seen?: string }> {
  const before = person.look()
  if (before.dialog || before.composer.state !== 'empty') return { end: 'not begun' }
  for (const word of draft.split(' ')) {
    person.type(`${word} `)
    await sleep(60)
  }
  await sleep(thinkMs)
  for (let tries = 0; tries < 40; tries++) {
    const { composer, dialog } = person.look()
    if (!dialog && composer.state === 'text') {
      if (!/draft-|half|thought|person/.test(composer.text)) return { end: 'swallowed' }
      const isOwn = composer.text.trim() === draft
      person.keys(isOwn && isSent ? 'Enter' : 'C-u')
      await emptied(person)
      if (!isOwn) return { end: 'mixed', seen: composer.text }
      return { end: isSent ? 'sent' : 'taken back' }
    }
    await sleep(250)
  }
  await emptied(person)
  return { end: 'taken back' }
}

/** Nobody leaves half a thought in the box here: it would hold up all that follows, as it should. */
async function emptied(person: Person): Promise<void> {
  for (let tries = 0; tries < 40; tries++) {
    await sleep(500)
    const { composer, dialog } = person.look()
    if (composer.state === 'empty') return
    // One line goes by C-u; what has more goes by C-c, which pressed twice at once would end the program.
    if (!dialog && composer.state === 'text') person.keys(tries % 8 === 4 ? 'C-c' : 'C-u')
  }
}
