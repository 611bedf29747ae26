import { expect, test } from 'vitest'
import { chosenLabels } from '../../contract/question-answers.ts'
import { wholeDecision } from './answers.ts'

const labels = (...all: string[]) => all.map((label) => ({ label }))
const colour = { question: 'Which colour?', header: 'Colour', options: labels('Red', 'Blue'), isMany: false }
const sizes = { question: 'Which sizes?', header: 'Sizes', options: labels('S', 'M', 'L'), isMany: true }
const both = [colour, sizes]

const answered = (questions: readonly (typeof colour)[], answers?: Record<string, string>) =>
  wholeDecision('question', questions, { verdict: 'allow', scope: 'once', ...(answers && { answers }) })

test('[MUS-333] every question gets its answer, named by its text, its heading or its number', () => {
  const whole = { answers: { 'Which colour?': 'Red', 'Which sizes?': 'S, L' } }
  for (const given of [
    { 'Which colour?': 'Red', 'Which sizes?': 'S, L' },
    { colour: 'Red', SIZES: 'S, L' },
    { '2': 'S, L', '1': 'Red' },
  ])
    expect(answered(both, given)).toMatchObject(whole)
  expect(answered([colour], { '*': 'Blue' })).toMatchObject({ answers: { 'Which colour?': 'Blue' } })
  expect(answered([], { '*': 'as you like' })).toMatchObject({ answers: { '*': 'as you like' } })
})

test.each([
  ['none', undefined, /2 of 2 questions have no answer.*Red \| Blue.*--answer "Colour=…" --answer "Sizes=…"/],
  [
    'one',
    { Colour: 'Red' },
    /1 of 2 questions has no answer: "Which sizes\?" \(S \| M \| L; one or several\)/,
  ],
  ['a blank one', { Colour: 'Red', Sizes: ' ' }, /1 of 2 questions has no answer/],
  ['one for nobody', { '*': 'Red' }, /2 of 2 questions have no answer/],
  ['one for no question', { Colour: 'Red', Shape: 'round' }, /nothing that is called "Shape".*Colour, Sizes/],
  ['one question twice', { Colour: 'Red', '1': 'Blue', Sizes: 'S' }, /answered twice/],
  ['two of one', { Colour: 'Red, Blue', Sizes: 'S' }, /takes one answer only/],
])('[MUS-333] %s is refused, with what is missing', (_what, given, message) => {
  expect(() => answered(both, given as Record<string, string> | undefined)).toThrow(
    expect.objectContaining({ code: 'invalid', message: expect.stringMatching(message) }),
  )
})

test('[MUS-333] what is no question takes no answer, and a no needs none', () => {
  const allow = { verdict: 'allow', scope: 'once' } as const
  expect(wholeDecision('tool', [], allow)).toEqual(allow)
  expect(() => wholeDecision('tool', [], { ...allow, answers: { '*': 'yes' } })).toThrow(/takes no answer/)
  expect(wholeDecision('question', both, { verdict: 'deny' })).toEqual({ verdict: 'deny' })
})

test('[MUS-333] the choices in an answer are known, also those with a comma in them', () => {
  const question = { options: labels('Red', 'Red, dark', 'Blue') }
  expect(chosenLabels(question, 'red, dark, Blue')).toEqual(['Red, dark', 'Blue'])
  expect(chosenLabels(question, 'Red, Blue')).toEqual(['Red', 'Blue'])
  expect(chosenLabels(question, 'Blue')).toEqual(['Blue'])
  expect(chosenLabels(question, 'Blue, but light')).toBeUndefined()
})
