import { expect, test } from 'vitest'

import { anthropicProtocol } from './anthropic-protocol.ts'

const readAnthropic = (body: unknown) => anthropicProtocol.read(body, { model: '', isStream: false })

const tools = [{ name: 'Bash', input_schema: { type: 'object' } }]
const roles = (messages: unknown) => readAnthropic({ tools, messages }).turns.map(({ role }) => role)
const text = (said: string) => ({ type: 'text', text: said })

test('messages become turns, a tool result apart from the words beside it', () => {
  const { turns, model, isStream, side } = readAnthropic({
    model: 'claude-x',
    stream: true,
    tools,
    messages: [
      { role: 'user', content: 'do it' },
      { role: 'assistant', content: [text('ok'), { type: 'tool_use', id: 't', name: 'Bash', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't', content: [text('42')] },
          text('<system-reminder>'),
        ],
      },
    ],
  })
  expect({ model, isStream, side }).toEqual({ model: 'claude-x', isStream: true, side: undefined })
  expect(turns).toEqual([
    { role: 'user', text: 'do it' },
    { role: 'model', text: 'ok' },
    { role: 'tool', text: '42' },
    { role: 'user', text: '<system-reminder>' },
  ])
})

test('a tool result may be plain text, and each prompt of a merged message is a turn', () => {
  const { turns } = readAnthropic({
    tools,
    messages: [
      { role: 'user', content: [{ type: 'tool_result', content: 'plain' }, text('one'), text('two')] },
    ],
  })
  expect(turns).toEqual([
    { role: 'tool', text: 'plain' },
    { role: 'user', text: 'one' },
    { role: 'user', text: 'two' },
  ])
})

test('system messages in the middle neither ask nor answer', () => {
  const system = { role: 'system', content: 'SCRIPT:[{"text":"no"}]' }
  const assistant = { role: 'assistant', content: 'a' }
  expect(roles([{ role: 'user', content: 'x' }, system, assistant])).toEqual(['user', 'other', 'model'])
  expect(roles([assistant, system, assistant])).toEqual(['model', 'other', 'model'])
})

test('a request without tools is a side request, one with a shape too', () => {
  const messages = [{ role: 'user', content: 'SCRIPT:[{"text":"no"}]' }]
  expect(readAnthropic({ messages }).side).toEqual({ shape: undefined })
  expect(readAnthropic({ messages, tools: [] }).side).toEqual({ shape: undefined })
  const format = { type: 'json_schema', schema: { type: 'object' } }
  expect(readAnthropic({ messages, tools, output_config: { format } }).side).toEqual({ shape: format.schema })
  expect(readAnthropic({ messages, tools, output_format: format }).side).toEqual({ shape: format.schema })
  expect(readAnthropic({ messages, tools, output_config: { effort: 'low' } }).side).toBeUndefined()
})

test('what does not fit is left out and takes nothing with it', () => {
  expect(roles(['junk', null, { role: 'user', content: [3, text('x')] }, { role: 7, content: 'y' }])).toEqual(
    ['user', 'user'],
  )
  expect(readAnthropic({ messages: 'none', tools: 'none', model: 1 })).toMatchObject({
    turns: [],
    model: 'scripted',
  })
})
