import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findScript, Scenarios } from './script.ts'

const scenarios = Scenarios.parse({ demo: [{ text: 'from the demo' }] })
const texts = (prompt: string) => {
  const found = findScript(prompt, { scenarios })
  return found?.kind === 'script' ? found.steps.map(({ text }) => text) : found
}
const inline = (...said: string[]) => `SCRIPT:${JSON.stringify(said.map((text) => ({ text })))}`
const base64 = (...said: string[]) =>
  `SCRIPT64:${Buffer.from(inline(...said).slice('SCRIPT:'.length)).toString('base64')}`

describe('a script is found', () => {
  test.each([
    ['at the start', `${inline('a')} and so on`],
    ['after other words', `Please do this: ${inline('a')}`],
    ['after a line break', `first line\n${inline('a')}\nlast line`],
    ['after a space', inline('a').replace(':', ': ')],
    ['in base64', `do ${base64('a')} now`],
    ['in the alphabet of URLs', `do ${base64('a').replaceAll('+', '-').replaceAll('/', '_')}`],
    ['quoted once, as a JSON string', JSON.stringify(`go\n${inline('a')}`)],
    ['quoted twice', JSON.stringify(JSON.stringify(`go\n${inline('a')}`))],
  ])('%s', (_where, prompt) => {
    expect(texts(prompt)).toEqual(['a'])
  })

  test('by the name of a scenario, also at the end of a sentence', () => {
    expect(texts('Play SCRIPT=demo.')).toEqual(['from the demo'])
  })

  test('by the name of the model, where the prompt has none and somebody in it answers', () => {
    const cast = Scenarios.parse({ show: { cast: [{ when: 'the first task', steps: [{ text: 'done' }] }] } })
    const played = (prompt: string, model: string) =>
      findScript(prompt, { scenarios: { ...scenarios, ...cast }, model })
    expect(played('Do the first task.', 'show')).toMatchObject({ key: 'show:0', steps: [{ text: 'done' }] })
    expect(played('Do the second task.', 'show')).toBeUndefined()
    expect(played('Do the first task. SCRIPT=demo', 'show')).toMatchObject({ key: 'demo' })
    expect(played('Anything.', 'demo')).toMatchObject({ key: 'demo' })
    expect(played('Do the first task.', 'constructor')).toBeUndefined()
  })

  test('and the last of several is taken, whatever their forms', () => {
    expect(texts(`${inline('a')} ${inline('b')}`)).toEqual(['b'])
    expect(texts(`${inline('a')}\n${base64('b')}`)).toEqual(['b'])
    expect(texts(`${base64('a')} SCRIPT=demo ${inline('b')}`)).toEqual(['b'])
  })

  test('and one that is nested in it is left to the subagent', () => {
    const prompt = `Do this. ${inline('inner')}`
    const outer = [{ tools: [{ name: 'Agent', input: { prompt } }] }, { text: 'outer' }]
    expect(texts(`SCRIPT:${JSON.stringify(outer)} thanks`)).toEqual([undefined, 'outer'])
    const quoted = JSON.stringify(`SCRIPT:${JSON.stringify(outer)}`)
    expect(texts(quoted)).toEqual([undefined, 'outer'])
  })

  test('with any text in its steps, inline, quoted and in base64', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), fc.string(), (said, after) => {
        fc.pre(!after.includes('SCRIPT'))
        expect(texts(`${inline(...said)}${after}`)).toEqual(said)
        expect(texts(JSON.stringify(inline(...said)))).toEqual(said)
        expect(texts(base64(...said))).toEqual(said)
      }),
    )
  })
})

test.each([
  'no script here',
  'export MY_SCRIPT=demo',
  'TYPESCRIPT:[1]',
  'the word SCRIPT: and nothing after it',
  'Write SCRIPT: and a JSON array of steps',
])('there is none in: %s', (prompt) => {
  expect(findScript(prompt, { scenarios })).toBeUndefined()
})

test.each([
  ['an array that is not closed', 'SCRIPT:[{"text":"a"}', 'not a JSON array'],
  ['something else in base64', 'SCRIPT64:aGVsbG8=', 'not a JSON array in base64'],
  ['an unknown scenario', 'SCRIPT=dmeo', 'no scenario dmeo; there are: demo'],
  ['a name that every object has', 'SCRIPT=constructor', 'no scenario constructor'],
  ['no step at all', 'SCRIPT:[]', 'the script'],
  ['an unknown key', 'SCRIPT:[{"text":"a"},{"txet":"b"}]', 'step 2'],
  ['a wrong kind', 'SCRIPT:[{"tools":[{"name":7}]}]', 'step 1, tools, 0, name'],
  ['more reasoning than output', 'SCRIPT:[{"usage":{"reasoning":5}}]', 'reasoning is a part of output'],
])('%s is told as what it is', (_what, prompt, why) => {
  expect(findScript(prompt, { scenarios })).toEqual({ kind: 'broken', why: expect.stringContaining(why) })
})

test('the same steps have the same key, others another', () => {
  const key = (prompt: string) => {
    const found = findScript(prompt, { scenarios })
    return found?.kind === 'script' ? found.key : undefined
  }
  expect(key(`x ${inline('a')}`)).toBe(key(base64('a')))
  expect(key(inline('a'))).not.toBe(key(inline('b')))
  expect(key('SCRIPT=demo')).toBe('demo')
})
