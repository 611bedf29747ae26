import { expect, test } from 'vitest'
import { screenFixture } from '../../../test/support/screen-fixture.ts'
import { isShown } from '../../core/messages/message-text.ts'
import { geminiDialect } from './gemini-cli.ts'
import { geminiScreen } from './gemini-screen.ts'

const fixture = (name: string) => screenFixture(new URL(`./fixtures/0.61.0-${name}.txt`, import.meta.url))
const read = (name: string) => geminiScreen(fixture(name), '0.61.0')

test.for([
  ['ready', { composer: { state: 'empty' }, isWorking: false }],
  ['turn', { composer: { state: 'empty' }, isWorking: false }],
  ['typed', { composer: { state: 'text', text: 'l1\nl2\nl3' }, isWorking: false }],
  ['pasted', { composer: { state: 'text', text: '[Pasted Text: 31 lines]' }, isWorking: false }],
  ['working', { composer: { state: 'empty' }, isWorking: true }],
  ['queued', { composer: { state: 'empty' }, isWorking: true, queued: 1 }],
  ['interrupted', { composer: { state: 'empty' }, isWorking: false }],
  ['plain-ready', { composer: { state: 'empty' }, isWorking: false }],
  ['plain-typed', { composer: { state: 'text', text: 'l1\nl2\nl3' }, isWorking: false }],
  ['plain-working', { composer: { state: 'empty' }, isWorking: true }],
] as const)('[SM-88] Gemini 0.61.0 shows %s', ([name, reading]) => {
  expect(read(name)).toEqual(reading)
})

test('[MUS-377] a row that the terminal takes for longer than Gemini ends no box: what is in it is known as what was typed', () => {
  const { composer } = read('misdrawn')
  const typed =
    'm36. עברית مرحبا 👍🏽 👩‍👩‍👧 🇩🇪 tab\there tab\there tab\there plain words tab\there é ñ ö plain words 👍🏽 👩‍👩‍👧 🇩🇪 עברית مرحبا plain words é ñ ö tab\there plain words 漢字かな交じり文 tab\there $HOME `x` "q" \'a\' #{pid} %d ; '
  expect(composer.state === 'text' && isShown(composer.text, typed)).toBe(true)
  const more = fixture('plain-typed')
  const blank = { ...more, lines: more.lines.flatMap((line) => (line.trim() === 'l2' ? ['', line] : [line])) }
  expect(geminiScreen(blank, '0.61.0').composer).toEqual({ state: 'text', text: 'l1\n\nl2\nl3' })
})

test('[SM-88] work is known by the title alone, while the screen is drawn anew', () => {
  const torn = { ...fixture('working'), lines: [] }
  expect(geminiScreen(torn, '0.61.0')).toEqual({ composer: { state: 'none' }, isWorking: true })
})

test.for([
  ['permission', 'permission', 'Allow execution of [Shell]?', ['Allow once', 'No, suggest changes']],
  ['permission-edit', 'permission', 'Apply this change?', undefined],
  ['question', 'question', 'Answer Questions', ['Red', 'Blue', 'Enter a custom value']],
  ['trust', 'trust', 'Do you trust the files in this folder?', undefined],
] as const)('[SM-69] the dialog %s is no box to type in', ([name, kind, title, options]) => {
  const { composer, dialog } = read(name)
  expect(composer).toEqual({ state: 'none' })
  expect(dialog).toMatchObject({ kind, title, selected: 0, ...(options && { options }) })
})

test('[MUS-187] of two questions on the screen the upper one is read, for the keys go there', () => {
  const { dialog } = read('permission-above-trust')
  expect(dialog?.kind).toBe('permission')
  const keys = dialog && geminiDialect.answerKeys?.(dialog, { verdict: 'deny' })
  expect(keys).toEqual(['2'])
})

test('[MUS-187] keys are found by the words of a choice', () => {
  const edit = read('permission-edit').dialog
  if (!edit) throw new Error('no dialog was read')
  expect(geminiDialect.answerKeys?.(edit, { verdict: 'allow', scope: 'once' })).toEqual(['1'])
  expect(geminiDialect.answerKeys?.(edit, { verdict: 'deny' })).toEqual(['3'])
  const shell = { ...edit, options: ['Allow once', 'Allow for this session', 'No, suggest changes'] }
  expect(geminiDialect.answerKeys?.(shell, { verdict: 'allow', scope: 'session' })).toEqual(['2'])
  expect(geminiDialect.answerKeys?.(shell, { verdict: 'allow', scope: 'always' })).toEqual(['1'])
})

test('[SM-72] an error stays readable after the turn', () => {
  expect(read('failed')).toMatchObject({ composer: { state: 'empty' }, isWorking: false })
  expect(read('failed').error).toContain('"code":400')
})
