import { expect, test } from 'vitest'
import { chooseAnswer } from './choose-answer.ts'
import type { Conversation } from './conversation.ts'
import { failingAttempts } from './failing-attempts.ts'
import { findScript } from './find-script.ts'

const conversation = (text: string, extra: Partial<Conversation> = {}): Conversation => ({
  model: 'm',
  isStream: true,
  turns: [{ role: 'user', text }],
  tools: new Map(),
  side: undefined,
  ...extra,
})
const context = () => ({ scenarios: {}, failsAgain: failingAttempts() })
const choose = (text: string, extra?: Partial<Conversation>) =>
  chooseAnswer(conversation(text, extra), context())

test('side requests get neutral words, and never a step', () => {
  const prompt = 'SCRIPT:[{"text":"a step"}]'
  expect(choose(prompt, { side: { shape: undefined } })).toMatchObject({
    answered: 'side',
    step: { text: 'ok' },
  })
  const shape = { type: 'object', properties: { title: { type: 'string' } } }
  expect(choose(prompt, { side: { shape } })).toMatchObject({
    answered: 'side',
    step: { text: '{"title":"ok"}' },
  })
})

test('a prompt without a script is told so, in words that are no script', () => {
  const { answered, step } = choose('hello')
  expect(answered).toBe('unscripted')
  expect(step.text).toContain('No model was called')
  expect(findScript(step.text ?? '', {})).toBeUndefined()
})

test('a broken script is an error that names the fault', () => {
  expect(choose('SCRIPT:[{"txet":"a"}]')).toMatchObject({
    answered: 'broken',
    failure: { status: 400, message: expect.stringContaining('step 1') },
  })
})

test('a step is answered with its place; after the last there are words for it', () => {
  const prompt = 'SCRIPT:[{"text":"a"}]'
  expect(choose(prompt)).toMatchObject({ answered: 'step', at: { index: 0 }, step: { text: 'a' } })
  const turns = [{ role: 'user', text: prompt } as const, { role: 'model', text: 'a' } as const]
  expect(choose('', { turns })).toMatchObject({ answered: 'finished', at: { index: 1 } })
  expect(choose('SCRIPT:[{"hang":true}]')).toMatchObject({ answered: 'hang' })
})

test('a failing step fails always, or as often as it says and then goes on', () => {
  const shared = context()
  const ask = (text: string) => {
    const { answered, failure } = chooseAnswer(conversation(text), shared)
    return failure?.status ?? answered
  }
  const always = 'SCRIPT:[{"status":401}]'
  expect([ask(always), ask(always), ask(always)]).toEqual([401, 401, 401])
  const twice = 'SCRIPT:[{"status":529,"times":2,"text":"a"}]'
  const other = 'SCRIPT:[{"status":529,"times":1,"text":"b"}]'
  expect([ask(twice), ask(other), ask(twice), ask(twice), ask(other), ask(twice)]).toEqual([
    529,
    529,
    529,
    'step',
    'step',
    'step',
  ])
})

test.each([
  ['hangs', { hang: true }],
  ['is cut', { cut: true }],
  ['has a broken call', { tools: [{ name: 'Bash', input: {}, broken: true }] }],
])('[MUS-252] a step that %s may do so only so many times', (_, fault) => {
  const shared = context()
  const ask = () =>
    chooseAnswer(conversation(`SCRIPT:${JSON.stringify([{ ...fault, times: 1, text: 'a' }])}`), shared)
  expect(ask().step).toMatchObject(fault)
  const { answered, step } = ask()
  expect([answered, step.hang, step.cut, step.tools.some(({ broken }) => broken)]).toEqual([
    'step',
    false,
    false,
    false,
  ])
})

test('so many failing places are remembered and no more', () => {
  const failsAgain = failingAttempts()
  for (let i = 0; i <= 1000; i++) expect(failsAgain(`place ${i}`, 1)).toBe(true)
  expect(failsAgain('place 1000', 1)).toBe(false)
  expect(failsAgain('place 0', 1)).toBe(true)
})
