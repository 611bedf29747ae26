import { expect, test } from 'vitest'
import type { Dialog, SignalOf } from '../../contract/signal.ts'
import { askedByDialog, refuseSeveral } from './asked-by-dialog.ts'

const shown: Dialog = { kind: 'question', title: 'Which colour?', options: ['Red', 'Blue'] }
const call = (...texts: string[]): SignalOf<'tool-start'> => ({
  kind: 'tool-start',
  source: 'transcript',
  at: 0,
  callId: texts.join(),
  tool: 'AskUserQuestion',
  input: { questions: texts.map((question) => ({ question, options: [{ label: 'Red' }] })) },
})
const questionsOf = (dialog: Dialog, calls: readonly SignalOf<'tool-start'>[]) =>
  askedByDialog(dialog, calls, 0).questions ?? []

test('[MUS-334] a question that is read from the screen is all that its call asks', () => {
  const both = questionsOf(shown, [call('Which size?'), call('Which colour?', 'Which toppings?')])
  expect(both.map(({ question }) => question)).toEqual(['Which colour?', 'Which toppings?'])
  expect(() => refuseSeveral(both)).toThrow(/"Which colour\?", "Which toppings\?".*nothing was answered/)
})

test('[MUS-334] without its call, what the screen says of other questions and of several choices counts', () => {
  const one = questionsOf(shown, [call('Which size?')])
  expect(one).toEqual([
    { question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }], isMany: false },
  ])
  expect(() => refuseSeveral(one)).not.toThrow()
  for (const several of [
    { ...shown, headings: ['Colour', 'Toppings'] },
    { ...shown, isMany: true },
  ])
    expect(() => refuseSeveral(questionsOf(several, []))).toThrow(/sm attach/)
})
