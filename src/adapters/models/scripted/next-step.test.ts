import { expect, test } from 'vitest'
import { nextStep } from './next-step.ts'
import { joinModelTurns, type Turn } from './turn.ts'

const user = (text: string): Turn => ({ role: 'user', text })
const tool = (text: string): Turn => ({ role: 'tool', text })
const model: Turn = { role: 'model', text: '' }
const script = (...texts: string[]) => user(`SCRIPT:${JSON.stringify(texts.map((text) => ({ text })))}`)
const next = (...turns: Turn[]) => {
  const found = nextStep(turns, {})
  return found.kind === 'step' ? [found.index, found.step.text] : found.kind
}

test('the step is the number of model turns since the script', () => {
  expect(next(script('a', 'b', 'c'))).toEqual([0, 'a'])
  expect(next(script('a', 'b', 'c'), model, tool('1'))).toEqual([1, 'b'])
  expect(next(script('a', 'b', 'c'), model, tool('1'), model, user('go on'))).toEqual([2, 'c'])
})

test('after the last step the script is finished', () => {
  expect(nextStep([script('a'), model, user('more')], {})).toMatchObject({ kind: 'finished', index: 1 })
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
    const found = nextStep([prompt, ...turns], {})
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
