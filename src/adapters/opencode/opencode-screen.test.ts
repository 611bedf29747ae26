import { expect, test } from 'vitest'
import { screenFixture } from '../../../test/support/screen-fixture.ts'
import { openCodeScreen } from './opencode-screen.ts'

const fixture = (name: string) => screenFixture(new URL(`./fixtures/1.18.33-${name}.txt`, import.meta.url))
const read = (name: string) => openCodeScreen(fixture(name), '1.18.33')

test.for([
  ['turn', { composer: { state: 'empty' }, isWorking: false }],
  ['typed', { composer: { state: 'text', text: 'half' }, isWorking: true }],
  ['working', { composer: { state: 'empty' }, isWorking: true }],
  ['queued', { composer: { state: 'empty' }, isWorking: true, queued: 1 }],
  ['interrupted', { composer: { state: 'empty' }, isWorking: false }],
] as const)('[SM-88] OpenCode 1.18.33 shows %s', ([name, reading]) => {
  expect(read(name)).toEqual(reading)
})

test('[SM-69] a permission and a question are dialogs with their choices', () => {
  expect(read('permission')).toEqual({
    composer: { state: 'none' },
    isWorking: false,
    dialog: {
      kind: 'permission',
      title: 'Permission required',
      options: ['Allow once', 'Allow always', 'Reject'],
    },
  })
  expect(read('question').dialog).toEqual({
    kind: 'question',
    title: 'Which colour?',
    options: ['Red', 'Blue', 'Type your own answer'],
  })
})

test('[SM-88] the box in the middle of the first screen is read too, and what is beside a box is not in it', () => {
  const side = ' '.repeat(33)
  const box = [
    `${side}┃`,
    `${side}┃  Ask anything… "Fix it"`,
    `${side}┃`,
    `${side}┃  Build · Fake`,
    `${side}╹${'▀'.repeat(40)}`,
  ]
  const screen = { ...fixture('turn'), lines: box }
  expect(openCodeScreen(screen, '1.18.33').composer).toEqual({ state: 'empty' })
  const typed = box.with(1, `${side}┃  my words${' '.repeat(40)}beside`)
  expect(openCodeScreen({ ...screen, lines: typed }, '1.18.33').composer).toEqual({
    state: 'text',
    text: 'my words',
  })
})

test('[SM-88] a request that is repeated shows its attempt', () => {
  const screen = fixture('working')
  const lines = screen.lines.map((line) =>
    line.replace('esc interrupt', 'busy [retrying attempt #4]  esc interrupt'),
  )
  expect(openCodeScreen({ ...screen, lines }, '1.18.33')).toMatchObject({
    isWorking: true,
    retry: { attempt: 4 },
  })
})

test('[MUS-347] a first Escape that was counted shows: the screen asks for another', () => {
  const screen = fixture('working')
  const lines = screen.lines.map((line) => line.replace('esc interrupt', 'esc again to interrupt'))
  expect(openCodeScreen({ ...screen, lines }, '1.18.33')).toMatchObject({ isWorking: true, isArmed: true })
  expect(read('working')).not.toHaveProperty('isArmed')
})
