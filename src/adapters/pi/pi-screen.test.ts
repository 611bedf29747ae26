import { expect, test } from 'vitest'
import { screenFixture } from '../../../test/support/screen-fixture.ts'
import { piDialect } from './pi-cli.ts'
import { piScreen } from './pi-screen.ts'

const fixture = (name: string) => screenFixture(new URL(`./fixtures/0.74.2-${name}.txt`, import.meta.url))
const read = (name: string) => piScreen(fixture(name), '0.74.2')

test.for([
  ['turn', { composer: { state: 'empty' }, isWorking: false }],
  ['typed', { composer: { state: 'text', text: 'half typed' }, isWorking: false }],
  ['pasted', { composer: { state: 'text', text: '[paste #1 +31 lines]' }, isWorking: false }],
  ['working', { composer: { state: 'empty' }, isWorking: true }],
  ['queued', { composer: { state: 'empty' }, isWorking: true, queued: 1 }],
  ['failed', { composer: { state: 'empty' }, isWorking: false, error: '400 scripted error' }],
  ['retrying', { composer: { state: 'empty' }, isWorking: true, retry: { attempt: 1, of: 3 } }],
] as const)('[SM-88] pi 0.74.2 shows %s', ([name, reading]) => {
  expect(read(name)).toEqual(reading)
})

test('[SM-72] when pi has given up, the limit is known by the screen alone', () => {
  expect(read('interrupted')).toMatchObject({ isWorking: false, limit: { text: '429 scripted error' } })
})

test("[SM-69] the extension's own question is a dialog, answered by arrows", () => {
  const { composer, dialog } = read('permission')
  expect(composer).toEqual({ state: 'none' })
  expect(dialog).toMatchObject({ kind: 'permission', title: 'May the agent use bash?', selected: 0 })
  if (!dialog) throw new Error('no dialog was read')
  expect(piDialect.answerKeys?.(dialog, { verdict: 'allow', scope: 'once' })).toEqual(['Enter'])
  expect(piDialect.answerKeys?.(dialog, { verdict: 'allow', scope: 'session' })).toEqual(['Down', 'Enter'])
  expect(piDialect.answerKeys?.({ ...dialog, selected: 1 }, { verdict: 'deny' })).toEqual(['Down', 'Enter'])
  expect(piDialect.answerKeys?.({ ...dialog, selected: 2 }, { verdict: 'allow', scope: 'once' })).toEqual([
    'Up',
    'Up',
    'Enter',
  ])
})
