import { expect, test } from 'vitest'
import type { TerminalEvent } from '../../ports/terminal.ts'
import type { PaneRow } from './pane-list.ts'
import { paneWatch } from './pane-watch.ts'

const row = (pane: string, more: Partial<PaneRow> = {}): PaneRow => ({
  mark: `mark ${pane}`,
  server: 'one',
  session: pane.replace('%', '$'),
  pane,
  name: 'eng',
  owner: 'one',
  pid: 7,
  isDead: false,
  isUnreaped: false,
  attached: 0,
  title: '',
  ...more,
})

function watching() {
  const events: TerminalEvent[] = []
  const watch = paneWatch((event) => events.push(event))
  return { watch, told: () => events.splice(0) }
}

test('[MUS-234] an end is told once, with its code or signal; the first list is only learned', () => {
  const { watch, told } = watching()
  watch.see([row('%1'), row('%2'), row('%3', { isDead: true, exitCode: 1 })])
  expect(told()).toEqual([])
  const ended = [
    row('%1', { isDead: true, exitCode: 0 }),
    row('%2', { isDead: true, exitSignal: 'SIGKILL' }),
    row('%3', { isDead: true, exitCode: 1 }),
  ]
  watch.see(ended)
  expect(told()).toEqual([
    { kind: 'exited', server: 'one', pane: '%1', code: 0 },
    { kind: 'exited', server: 'one', pane: '%2', signal: 'SIGKILL' },
  ])
  watch.see(ended)
  expect(told()).toEqual([])
  watch.see([])
  expect(told().map(({ kind }) => kind)).toEqual(['closed', 'closed', 'closed'])
  watch.see([])
  expect(told()).toEqual([])
})

test('[MUS-234] a pane that is being opened is spoken of only when its opener knows it', () => {
  const { watch, told } = watching()
  watch.opening('mark %1')
  const dead = row('%1', { isDead: true, exitCode: 7 })
  watch.see([row('%1')])
  watch.see([dead])
  expect(told()).toEqual([])
  watch.opened(dead)
  watch.see([dead])
  expect(told()).toEqual([{ kind: 'exited', server: 'one', pane: '%1', code: 7 }])
})

test('[MUS-234] the same id on the next server is another pane', () => {
  const { watch, told } = watching()
  watch.see([row('%1')])
  watch.see([row('%1', { server: 'two', isDead: true, exitCode: 3 })])
  expect(told()).toEqual([{ kind: 'closed', server: 'one', session: '$1' }])
})

test('[MUS-234] of a server that is over nothing is told pane by pane', () => {
  const { watch, told } = watching()
  watch.see([row('%1'), row('%2', { server: 'two' })])
  watch.forget('one')
  watch.see([])
  expect(told()).toEqual([{ kind: 'closed', server: 'two', session: '$2' }])
})
