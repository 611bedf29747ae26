import { expect, test } from 'vitest'
import { chooseAnswer, failingAttempts, nextStep, sampleOfSchema } from './choose-answer.ts'
import { type Conversation, joinModelTurns, type Turn } from './protocol.ts'
import { findScript } from './script.ts'

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
  expect(findScript(step.text ?? '', { scenarios: {} })).toBeUndefined()
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

const user = (text: string): Turn => ({ role: 'user', text })
const tool = (text: string): Turn => ({ role: 'tool', text })
const model: Turn = { role: 'model', text: '' }
const script = (...texts: string[]) => user(`SCRIPT:${JSON.stringify(texts.map((text) => ({ text })))}`)
const next = (...turns: Turn[]) => {
  const found = nextStep({ turns, model: '' }, {})
  return found.kind === 'step' ? [found.index, found.step.text] : found.kind
}

test('the step is the number of model turns since the script', () => {
  expect(next(script('a', 'b', 'c'))).toEqual([0, 'a'])
  expect(next(script('a', 'b', 'c'), model, tool('1'))).toEqual([1, 'b'])
  expect(next(script('a', 'b', 'c'), model, tool('1'), model, user('go on'))).toEqual([2, 'c'])
})

test('after the last step the script is finished', () => {
  expect(nextStep({ turns: [script('a'), model, user('more')], model: '' }, {})).toMatchObject({
    kind: 'finished',
    index: 1,
  })
})

test('a later prompt with a script starts anew; one without goes on', () => {
  expect(next(script('a', 'b'), model, script('x', 'y'))).toEqual([0, 'x'])
  expect(next(script('a', 'b'), model, script('x', 'y'), model, tool(''))).toEqual([1, 'y'])
})

test('of prompts that were never answered the last one counts', () => {
  expect(next(script('a', 'b'), script('x', 'y'))).toEqual([0, 'x'])
})

test('scripts in what tools and the model say are not followed', () => {
  const quoted = script('no').text
  expect(next(tool(quoted), { role: 'model', text: quoted }, { role: 'other', text: quoted })).toBe(
    'unscripted',
  )
})

test('a broken script is not passed over for an older one', () => {
  expect(next(script('a', 'b'), model, user('SCRIPT:[{"txet":"b"}]'))).toBe('broken')
})

test('the last tool result is filled into what is said, and not into inputs', () => {
  const steps = [
    { text: 'got ${lastToolResult} and ${lastToolResult}', thinking: '${lastToolResult}?' },
    { text: '${lastToolResult}', tools: [{ name: 'Agent', input: { prompt: '${lastToolResult}' } }] },
  ]
  const prompt = user(`SCRIPT:${JSON.stringify(steps)}`)
  const at = (...turns: Turn[]) => {
    const found = nextStep({ turns: [prompt, ...turns], model: '' }, {})
    return found.kind === 'step' ? found.step : undefined
  }
  expect(at()).toMatchObject({ text: 'got  and ', thinking: '?' })
  expect(at(model, tool('first'), tool(' second $& \n'))).toMatchObject({
    text: 'second $&',
    tools: [{ input: { prompt: '${lastToolResult}' } }],
  })
})

test('entries of the model in a row are one turn; anything between parts them', () => {
  const other: Turn = { role: 'other', text: '' }
  expect(joinModelTurns([model, model, model, tool('1'), model, model])).toEqual([model, tool('1'), model])
  expect(joinModelTurns([model, other, model])).toEqual([model, other, model])
})

test.each([
  ['an object', { type: 'object', properties: { title: { type: 'string' } } }, { title: 'ok' }],
  ['an object without a type', { properties: { is: { type: 'boolean' } } }, { is: false }],
  ['capital letters', { type: 'OBJECT', properties: { n: { type: 'INTEGER', minimum: 3 } } }, { n: 3 }],
  ['a choice of words', { type: 'string', enum: ['small', 'large'] }, 'small'],
  ['a fixed value', { const: null }, null],
  ['a choice of shapes', { anyOf: [{ type: 'array' }, { type: 'string' }] }, []],
  ['a list with a least length', { type: 'array', minItems: 2, items: { type: 'number' } }, [0, 0]],
  ['several types', { type: ['null', 'string'] }, null],
  ['nothing known', {}, 'ok'],
  ['no schema', 7, 'ok'],
])('%s has a plain value', (_what, schema, value) => {
  expect(sampleOfSchema(schema)).toEqual(value)
})

test('a shape that holds itself ends', () => {
  const schema: Record<string, unknown> = { type: 'object' }
  schema['properties'] = { again: schema }
  expect(JSON.stringify(sampleOfSchema(schema))).toContain('"ok"')
})
