import { expect, test } from 'vitest'

import { geminiProtocol } from './gemini-protocol.ts'

const tools = [{ functionDeclarations: [{ name: 'run_shell_command' }] }]
const path = { model: 'gemini-x', isStream: true }

test('contents become turns, each part of a user a turn of its own', () => {
  const read = geminiProtocol.read(
    {
      tools,
      contents: [
        { role: 'user', parts: [{ text: 'context' }, { text: 'do it' }] },
        { role: 'model', parts: [{ text: 'hm', thought: true }, { functionCall: { name: 'f', args: {} } }] },
        { role: 'model', parts: [{ text: 'again' }] },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'f', response: { output: 'result' } } },
            { functionResponse: { name: 'f', response: { error: 'failed' } } },
            { functionResponse: { name: 'f', response: { rows: 2 } } },
            { inlineData: {} },
          ],
        },
      ],
    },
    path,
  )
  expect(read).toMatchObject(path)
  expect(read.turns.map(({ role, text }) => `${role} ${text}`.trim())).toEqual([
    'user context',
    'user do it',
    'model hm',
    'tool result',
    'tool failed',
    'tool {"rows":2}',
    'other',
  ])
})

test('a request without tools is a side request, one with a shape too', () => {
  const contents = [{ role: 'user', parts: [{ text: 'name this' }] }]
  const side = (body: object) => geminiProtocol.read({ contents, ...body }, path).side
  expect(side({})).toEqual({ shape: undefined })
  expect(side({ tools })).toBeUndefined()
  expect(side({ tools, generationConfig: { temperature: 0 } })).toBeUndefined()
  expect(side({ tools, generationConfig: { responseMimeType: 'application/json' } })).toEqual({
    shape: { type: 'object' },
  })
  const schema = { type: 'OBJECT' }
  expect(side({ tools, generationConfig: { responseSchema: schema } })).toEqual({ shape: schema })
  expect(side({ tools, generationConfig: { responseJsonSchema: schema } })).toEqual({ shape: schema })
})

test('what does not fit is left out and takes nothing with it', () => {
  const contents = ['junk', { role: 'user', parts: [7, { text: 'x' }] }, { parts: [{ text: 'y' }] }]
  expect(geminiProtocol.read({ tools, contents }, path).turns.map(({ text }) => text)).toEqual(['x', 'y'])
})
