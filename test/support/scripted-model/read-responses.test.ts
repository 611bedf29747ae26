import { expect, test } from 'vitest'

import { responsesProtocol } from './responses-protocol.ts'

const readResponses = (body: unknown) => responsesProtocol.read(body, { model: '', isStream: false })

const tools = [{ type: 'function', name: 'exec_command' }]
const message = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: 'input_text', text }],
})

test('thoughts, words and calls in a row are one turn of the model', () => {
  const { turns } = readResponses({
    tools,
    input: [
      message('developer', 'rules'),
      message('user', 'do it'),
      { type: 'reasoning', summary: [] },
      message('assistant', 'ok'),
      { type: 'function_call', name: 'exec_command', arguments: '{}', call_id: 'c' },
      { type: 'custom_tool_call', name: 'apply_patch', input: 'x', call_id: 'd' },
      { type: 'function_call_output', call_id: 'c', output: 'first' },
      { type: 'custom_tool_call_output', call_id: 'd', output: [{ type: 'input_text', text: 'second' }] },
      message('assistant', 'done'),
    ],
  })
  expect(turns.map(({ role, text }) => `${role} ${text}`.trim())).toEqual([
    'other',
    'user do it',
    'model',
    'tool first',
    'tool second',
    'model done',
  ])
})

test('the input may be a text', () => {
  expect(readResponses({ tools, input: 'hello' }).turns).toEqual([{ role: 'user', text: 'hello' }])
})

test('tools are known with their group and with what they take', () => {
  const group = {
    type: 'namespace',
    name: 'multi_agent_v1',
    tools: [{ type: 'function', name: 'spawn_agent' }],
  }
  const offered = readResponses({
    input: [],
    tools: [...tools, group, { type: 'custom', name: 'apply_patch' }],
  })
  expect(Object.fromEntries(offered.tools)).toEqual({
    exec_command: { takesText: false },
    spawn_agent: { namespace: 'multi_agent_v1', takesText: false },
    apply_patch: { takesText: true },
  })
})

test('a request without tools is a side request, one with a shape too', () => {
  const input = [message('user', 'name this')]
  expect(readResponses({ input }).side).toEqual({ shape: undefined })
  const schema = { type: 'object' }
  expect(readResponses({ input, tools, text: { format: { type: 'json_schema', schema } } }).side).toEqual({
    shape: schema,
  })
  expect(readResponses({ input, tools, text: { format: { type: 'text' } } }).side).toBeUndefined()
  expect(readResponses({ input, tools, text: { verbosity: 'low' } }).side).toBeUndefined()
})

test('what does not fit is left out and takes nothing with it', () => {
  const { turns } = readResponses({
    tools,
    input: [5, message('user', 'x'), { type: 'item_reference', id: 'i' }],
  })
  expect(turns.map(({ role }) => role)).toEqual(['user', 'other'])
})
