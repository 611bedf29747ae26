import { expect, test } from 'vitest'
import { screenFixture } from '../../../test/support/screen-fixture.ts'
import { codexScreen } from './codex-screen.ts'

const read = (name: string) =>
  codexScreen(screenFixture(new URL(`./fixtures/0.166.0-${name}.txt`, import.meta.url)), '0.166.0')

test.for([
  ['ready', { composer: { state: 'empty' }, isWorking: false }],
  ['typed', { composer: { state: 'text', text: 'half typed' }, isWorking: false }],
  ['typed-lines', { composer: { state: 'text', text: 'line\nline\nline\nend' }, isWorking: false }],
  ['pasted', { composer: { state: 'text', text: '[Pasted Content 2500 chars]' }, isWorking: false }],
  ['working', { composer: { state: 'empty' }, isWorking: true }],
  ['streaming', { composer: { state: 'empty' }, isWorking: true }],
  ['queued', { composer: { state: 'empty' }, isWorking: true, queued: 1 }],
  ['interrupted', { composer: { state: 'empty' }, isWorking: false }],
  ['retrying', { composer: { state: 'empty' }, isWorking: true, retry: { attempt: 1, of: 1 } }],
] as const)('[SM-88] Codex 0.166.0 shows %s', ([name, reading]) => {
  expect(read(name)).toEqual(reading)
})

test.for([
  ['permission', 'permission', 'Would you like to run the following command?', 'Yes, proceed'],
  ['question', 'question', 'Question 1/1 (1 unanswered)', 'Red'],
  ['plan', 'plan', 'Implement this plan?', 'Yes, implement this plan'],
  ['trust-folder', 'trust', 'Folder access', 'Trust and continue'],
  ['trust-hooks', 'trust', 'Hooks need review', 'Review hooks'],
] as const)('[SM-69] the dialog %s is no box to type in', ([name, kind, title, first]) => {
  const reading = read(name)
  expect(reading.composer).toEqual({ state: 'none' })
  expect(reading.isWorking).toBe(false)
  expect(reading.dialog).toMatchObject({ kind, title, selected: 0 })
  expect(reading.dialog?.options[0]).toBe(first)
})

test('[SM-88] an error is that of the last prompt, and an interruption is none', () => {
  expect(read('failed').error).toContain('scripted error')
  expect(read('interrupted').error).toBeUndefined()
  const screen = screenFixture(new URL('./fixtures/0.166.0-failed.txt', import.meta.url))
  const lines = screen.lines.with(34, '› a prompt after it')
  expect(codexScreen({ ...screen, lines }, '0.166.0').error).toBeUndefined()
})

test('[SM-43] text that a person has begun is never taken for an empty box', () => {
  const screen = screenFixture(new URL('./fixtures/0.166.0-typed.txt', import.meta.url))
  const home = { ...screen, cursor: { ...screen.cursor, x: 2 } }
  expect(codexScreen(home, '0.166.0').composer).toEqual({ state: 'text', text: 'half typed' })
})

test('[MUS-14] an unknown version is read by the nearest rules, and any screen without a throw', () => {
  const screen = screenFixture(new URL('./fixtures/0.166.0-ready.txt', import.meta.url))
  for (const version of ['0.1.0', '9.9.9', '', 'x'])
    expect(codexScreen(screen, version).composer.state).toBe('empty')
  expect(codexScreen({ ...screen, lines: [] }, '0.166.0').composer).toEqual({ state: 'none' })
})

test('[MUS-320] Codex 0.166.0: a box that has scrolled is read without its own mark', () => {
  const { composer } = read('scrolled')
  expect(composer).toMatchObject({ state: 'text', text: expect.stringMatching(/^\$H\nעב\n[^↑]*👍$/) })
})

test('[MUS-334] Codex 0.166.0: of several questions the one on the screen says how many there are', () => {
  const screen = screenFixture(new URL('./fixtures/0.166.0-question.txt', import.meta.url))
  const lines = screen.lines.map((line) => line.replace('1/1 (1 unanswered)', '1/2 (2 unanswered)'))
  expect(codexScreen({ ...screen, lines }, '0.166.0').dialog?.headings).toEqual(['Question 1', 'Question 2'])
  expect(read('question').dialog?.headings).toBeUndefined()
})
