import { describe, expect, test } from 'vitest'
import type { Dialog, SignalOf } from '../../contract/signal.ts'
import { dialogText, fitsDialog, showsCommand } from './approval-card.ts'

const dialog: Dialog = {
  kind: 'permission',
  title: 'Allow execution of [Shell]?',
  body: '? Shell  touch asked.txt\ntouch asked.txt\nAllow execution of [Shell]?',
  options: ['Allow once', 'No'],
  selected: 0,
}
const asking = (more: Partial<SignalOf<'asking'>>): SignalOf<'asking'> => ({
  kind: 'asking',
  source: 'hook',
  at: 0,
  ask: 'permission',
  tool: 'Bash',
  ...more,
})

describe('a dialog on the screen', () => {
  test('[MUS-247] is the one that asked only when it shows what was asked', () => {
    expect(fitsDialog(asking({ input: { command: 'touch asked.txt' } }), dialog)).toBe(true)
    expect(fitsDialog(asking({ input: { command: 'touch\n  asked.txt' } }), dialog)).toBe(true)
    expect(fitsDialog(asking({ input: { command: 'touch other.txt' } }), dialog)).toBe(false)
    expect(fitsDialog(asking({ ask: 'plan' }), dialog)).toBe(false)
    expect(fitsDialog(asking({ input: { file_path: '/work/asked.txt' } }), dialog)).toBe(true)
    expect(fitsDialog(asking({ input: { file_path: '/work/no.txt' } }), dialog)).toBe(false)
  })

  test('[MUS-247] shows of a long command its beginning or its end', () => {
    const command = Array.from({ length: 100 }, (_, i) => `echo ${i}`).join('\n')
    const cut = (body: string) => fitsDialog(asking({ input: { command } }), { ...dialog, body })
    expect(cut(command.slice(0, 300))).toBe(true)
    expect(cut(`... first 80 lines hidden ...\n${command.slice(-300)}`)).toBe(true)
    expect(cut(command.slice(300, 600))).toBe(false)
  })

  test('[MUS-247] shows a command only when all of it stands there in lines of its own', () => {
    const shows = (command: string, body: string) => showsCommand({ ...dialog, body }, { command })
    expect(shows('node --test', 'Run shell command\nnode --test\nThis command requires approval')).toBe(true)
    expect(shows('node --test --watch', 'node\n--test\n--watch\nas the script says')).toBe(true)
    expect(shows('ls', 'rm -rf tools')).toBe(false)
    expect(shows('node --test', 'node --test; rm -rf x')).toBe(false)
    expect(shows('', 'node --test')).toBe(false)
    expect(showsCommand(dialog, undefined)).toBe(false)
    expect(showsCommand(dialog, { file_path: 'asked.txt' })).toBe(false)
  })

  test('[MUS-247] that no hook told of is known by all of its words', () => {
    const seen = asking({ source: 'pane', detail: dialogText(dialog) })
    expect(fitsDialog(seen, dialog)).toBe(true)
    expect(fitsDialog(seen, { ...dialog, body: 'touch other.txt' })).toBe(false)
  })
})
