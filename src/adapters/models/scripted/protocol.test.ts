import { expect, test } from 'vitest'
import { answerOf, type Conversation, fieldsOf, type OfferedTool } from './protocol.ts'
import { Step } from './script.ts'

const context = (tools: Record<string, OfferedTool> = {}) => {
  const conversation: Conversation = {
    model: 'm',
    isStream: false,
    turns: [],
    tools: new Map(Object.entries(tools)),
    side: undefined,
  }
  return { id: 'abc', createdSec: 1, conversation, requestChars: 400 }
}
const answer = (step: unknown, tools?: Record<string, OfferedTool>) =>
  answerOf(Step.parse(step), context(tools))

test('[MUS-229] given tokens are exact: what is not named is none', () => {
  expect(answer({ text: 'a', usage: { output: 7 } }).usage).toEqual({
    input: 0,
    output: 7,
    cacheRead: 0,
    cacheWrite: 0,
    reasoning: 0,
  })
})

test('tokens that are not given are estimated, the same every time', () => {
  const { usage } = answer({ text: 'x'.repeat(40) })
  expect(usage).toMatchObject({ input: 100, output: 10, cacheRead: 0 })
  expect(answer({ text: 'x'.repeat(40) }).usage).toEqual(usage)
})

test('an answer that calls a tool stops for it, unless the step says why it stops', () => {
  expect(answer({ text: 'a' }).stopReason).toBe('end_turn')
  expect(answer({ tools: [{ name: 'Bash' }] }).stopReason).toBe('tool_use')
  expect(answer({ text: 'a', stopReason: 'max_tokens' }).stopReason).toBe('max_tokens')
})

test('a call gets the group in which the request offers its tool, unless it names one', () => {
  const offered = { spawn: { namespace: 'group', takesText: false } }
  expect(answer({ tools: [{ name: 'spawn' }] }, offered).calls[0]).toMatchObject({ namespace: 'group' })
  expect(answer({ tools: [{ name: 'spawn', namespace: 'own' }] }, offered).calls[0]?.namespace).toBe('own')
  expect(answer({ tools: [{ name: 'spawn' }] }).calls[0]?.namespace).toBeUndefined()
})

test('a tool gets text or fields, as it takes them', () => {
  const offered = { patch: { takesText: true }, run: { takesText: false } }
  const inputs = (tools: object[]) => answer({ tools }, offered).calls.map(({ input }) => input)
  expect(inputs([{ name: 'patch', input: 'text' }])).toEqual(['text'])
  expect(inputs([{ name: 'patch', input: { a: 1 } }])).toEqual(['{"a":1}'])
  expect(inputs([{ name: 'run', input: 'text' }])).toEqual([{ input: 'text' }])
  expect(inputs([{ name: 'other', input: 'text' }])).toEqual(['text'])
  expect(fieldsOf({ input: 'text' })).toEqual({
    input: 'text',
  })
})
