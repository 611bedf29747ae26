import { expect, test } from 'vitest'

import { chatProtocol } from './chat-protocol.ts'

const readChat = (body: unknown) => chatProtocol.read(body, { model: '', isStream: false })

const tools = [{ type: 'function', function: { name: 'bash', parameters: {} } }]

test('messages become turns; rules neither ask nor answer', () => {
  const { turns, model, isStream } = readChat({
    model: 'm',
    stream: true,
    tools,
    messages: [
      { role: 'system', content: 'rules' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] },
      { role: 'tool', tool_call_id: 'c', content: 'result' },
      { role: 'user', content: 'three' },
    ],
  })
  expect({ model, isStream }).toEqual({ model: 'm', isStream: true })
  expect(turns).toEqual([
    { role: 'other', text: '' },
    { role: 'user', text: 'one' },
    { role: 'user', text: 'two' },
    { role: 'model', text: '' },
    { role: 'tool', text: 'result' },
    { role: 'user', text: 'three' },
  ])
})

test('a request without tools is a side request, one with a shape too', () => {
  const messages = [{ role: 'user', content: 'name this' }]
  expect(readChat({ messages }).side).toEqual({ shape: undefined })
  expect(readChat({ messages, tools }).side).toBeUndefined()
  expect(readChat({ messages, tools, response_format: { type: 'text' } }).side).toBeUndefined()
  expect(readChat({ messages, tools, response_format: { type: 'json_object' } }).side).toEqual({
    shape: { type: 'object' },
  })
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const shaped = { type: 'json_schema', json_schema: { name: 'x', schema } }
  expect(readChat({ messages, tools, response_format: shaped }).side).toEqual({ shape: schema })
})

test('what does not fit is left out and takes nothing with it', () => {
  const { turns } = readChat({
    tools: [...tools, 'junk'],
    messages: [null, { role: 'user', content: 'x' }, 3],
  })
  expect(turns).toEqual([{ role: 'user', text: 'x' }])
})
