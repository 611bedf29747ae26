import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScreenReading } from '../../../src/contract/signal.ts'
import type { Dialect } from '../../../src/ports/agent-cli.ts'
import { inOneLine } from './check.ts'

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

/** Whose screen it is. */
export type Program = { readonly dialect: Dialect; readonly version: string }

/** What stands on the screen of a session's terminal. */
export function readPane(socket: string, session: string, { dialect, version }: Program): ScreenReading {
  const fields = '#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{pane_title}'
  const here = ['-t', `=${session}:`]
  const words = ['display', '-p', ...here, fields, ';', 'capture-pane', '-p', ...here]
  const [told = '', ...shown] = tmux(socket, words).split('\n')
  const [width, height = 0, x, y, flag, ...title] = told.split(' ')
  const lines = shown.slice(0, Number(height))
  const cursor = { x: Number(x), y: Number(y), isVisible: flag === '1' }
  const size = { width: Number(width), height: Number(height) }
  return dialect.screen({ lines, ...size, cursor, isInMode: false, title: title.join(' ') }, version)
}

/** Sits down at a session; `leave` detaches. */
export async function sitDown(socket: string, session: string, program: Program): Promise<Person> {
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
    look: () => readPane(socket, session, program),
    leave: () => void tmux(own, ['kill-session', '-t', `=${session}`]),
  }
}

type Habits = {
  /** How long they look at what they have written before they act. */
  readonly thinkMs: number
  readonly isSent: boolean
  /** They press Enter, then Escape as soon as it works, and find their text in the box again where the CLI puts it back. */
  readonly isRegretted?: boolean
  /** What is not drawn by then was taken away: a program may stand still over a long text. */
  readonly drawnMs?: number
}

type Draft = {
  readonly end: 'sent' | 'taken back' | 'cancelled' | 'not begun' | 'swallowed' | 'mixed' | 'lost'
  readonly seen?: string
  /** How many characters they typed. */
  readonly typed: number
}

/**
 * Types a draft, thinks, and sends it or takes it back. They look before they press Enter: what is not their own text
 * alone they do not send. What has nothing of theirs, because a dialog swallowed their letters, they leave alone.
 */
export async function writeDraft(person: Person, draft: string, habits: Habits): Promise<Draft> {
  const before = person.look()
  if (before.dialog || before.composer.state !== 'empty') return { end: 'not begun', typed: 0 }
  const typed = draft.length
  for (const [i, line] of draft.split('\n').entries()) {
    if (i > 0) person.keys('C-j')
    for (const word of line.split(' ')) {
      person.type(`${word} `)
      await sleep(60)
    }
  }
  await sleep(habits.thinkMs)
  const isRegretted = habits.isRegretted === true && !before.isWorking
  let act = await lookAndAct(person, draft, { ...habits, isSent: isRegretted || habits.isSent })
  if (act.end === 'sent' && isRegretted) {
    // What their Escape took out of the conversation, and the CLI does not put back, they took away themselves.
    if (!(await comesBack(person, draft))) return { end: 'cancelled', typed }
    await sleep(habits.thinkMs)
    act = await lookAndAct(person, draft, habits)
  }
  return { ...act, typed }
}

const inBox = ({ composer }: ScreenReading): string => (composer.state === 'text' ? composer.text : '')

async function lookAndAct(
  person: Person,
  draft: string,
  { isSent, drawnMs = 5000 }: Habits,
): Promise<Pick<Draft, 'end' | 'seen'>> {
  let wasDialog = false
  for (let tries = 0; tries < drawnMs / 250 + 20; tries++) {
    const screen = person.look()
    const { composer, dialog } = screen
    wasDialog ||= dialog !== undefined
    const shown = inBox(screen)
    const isWhole = draft.split(/\s/).every((word) => shown.includes(word))
    // A busy program draws late; what is not there after some seconds was taken away.
    const isJudged = isWhole || tries > drawnMs / 250
    if (!dialog && isJudged && composer.state === 'empty' && !wasDialog) return { end: 'lost' }
    if (!dialog && isJudged && composer.state === 'text') {
      if (!isWhole && !/draft-|half|thought|person/.test(shown))
        return wasDialog ? { end: 'swallowed' } : { end: 'lost', seen: shown }
      const isOwn = inOneLine(shown) === inOneLine(draft)
      if (isOwn && isSent) await pressEnter(person, draft)
      else await emptied(person)
      // What was beside it is no loss: nothing of theirs is missing.
      if (!isOwn) return { end: isWhole || wasDialog ? 'mixed' : 'lost', seen: shown }
      return { end: isSent ? 'sent' : 'taken back' }
    }
    await sleep(250)
  }
  await emptied(person)
  return { end: 'taken back' }
}

const holds = (screen: ScreenReading, draft: string): boolean =>
  inBox(screen).includes(draft.split(' ', 1)[0] ?? draft)

/** A busy program may miss a key: what is still in the box is sent again. */
async function pressEnter(person: Person, draft: string): Promise<void> {
  for (let tries = 0; tries < 40; tries++) {
    if (tries % 12 === 0) person.keys('Enter')
    await sleep(250)
    const screen = person.look()
    if (!screen.dialog && !holds(screen, draft)) return
  }
}

/** They press Escape once it works; whether their text is back in the box then. Some CLIs keep it, and answer. */
async function comesBack(person: Person, draft: string): Promise<boolean> {
  for (let tries = 0; tries < 12 && !person.look().isWorking; tries++) await sleep(250)
  if (!person.look().isWorking) return false
  person.keys('Escape')
  for (let quiet = 0; quiet < 16; ) {
    const screen = person.look()
    if (holds(screen, draft)) return true
    // Somebody else's text: theirs did not come back.
    if (inBox(screen) !== '') return false
    quiet = screen.isWorking ? 0 : quiet + 1
    await sleep(250)
  }
  return false
}

/** Nobody leaves half a thought in the box here: it would hold up all that follows, as it should. */
async function emptied(person: Person): Promise<void> {
  for (let tries = 0; tries < 40; tries++) {
    const { composer, dialog } = person.look()
    if (composer.state === 'empty') return
    // A line goes by C-u, what broke it by the next key. C-c, which pressed twice at once would end the program, is the last resort.
    if (!dialog && composer.state === 'text')
      person.keys(...(tries % 20 === 19 ? ['C-c'] : ['C-u', 'BSpace']))
    await sleep(500)
  }
}
