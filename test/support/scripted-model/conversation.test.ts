import { describe, expect, test } from 'vitest'
import { nextStep } from '../../../src/adapters/models/scripted/choose-answer.ts'
import { answerOf } from '../../../src/adapters/models/scripted/protocol.ts'
import { protocols } from './scripted-model.ts'

/** How a client of each protocol goes on with a conversation. */
type Client = {
  prompt(text: string): object[]
  /** The answer as the client sends it back, and what its tool gave. */
  turn(body: object, result: string): object[]
  request(history: readonly object[]): object
}

type AnthropicBody = { content: { type: string; id: string }[] }
type ResponsesBody = { output: { type: string; call_id: string }[] }
type ChatBody = { choices: [{ message: { tool_calls?: { id: string }[] } }] }
type GeminiBody = { candidates: [{ content: { parts: { functionCall?: { name: string } }[] } }] }

const clients: Record<keyof typeof protocols, Client> = {
  anthropic: {
    prompt: (text) => [{ role: 'user', content: [{ type: 'text', text }] }],
    turn(body, result) {
      const { content } = body as AnthropicBody
      const calls = content.filter(({ type }) => type === 'tool_use')
      const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: result }))
      const answered = { role: 'assistant', content }
      return results.length === 0 ? [answered] : [answered, { role: 'user', content: results }]
    },
    request: (messages) => ({ messages, tools: [{ name: 'Bash' }] }),
  },
  responses: {
    prompt: (text) => [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }],
    turn(body, result) {
      const { output } = body as ResponsesBody
      const calls = output.filter(({ type }) => type === 'function_call')
      const results = calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: result }))
      return [...output, ...results]
    },
    request: (input) => ({ input, tools: [{ type: 'function', name: 'Bash' }] }),
  },
  chat: {
    prompt: (text) => [{ role: 'user', content: text }],
    turn(body, result) {
      const { message } = (body as ChatBody).choices[0]
      const calls = message.tool_calls ?? []
      return [message, ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: result }))]
    },
    request: (messages) => ({ messages, tools: [{ type: 'function', function: { name: 'Bash' } }] }),
  },
  gemini: {
    prompt: (text) => [{ role: 'user', parts: [{ text }] }],
    turn(body, result) {
      const { content } = (body as GeminiBody).candidates[0]
      const results = content.parts.flatMap(({ functionCall }) =>
        functionCall ? [{ functionResponse: { name: functionCall.name, response: { output: result } } }] : [],
      )
      return results.length === 0 ? [content] : [content, { role: 'user', parts: results }]
    },
    request: (contents) => ({ contents, tools: [{ functionDeclarations: [{ name: 'Bash' }] }] }),
  },
}

const tools = [{ name: 'Bash', input: { command: 'ls' } }]
const first = [
  { thinking: 'hm', text: 'one', tools },
  { tools: [...tools, ...tools] },
  { text: 'three: ${lastToolResult}' },
]
const second = [{ text: 'four', tools }, { text: 'five: ${lastToolResult}' }]
const prompt = (steps: object[]) => `go SCRIPT:${JSON.stringify(steps)}`

describe.each(Object.keys(clients) as (keyof typeof protocols)[])('%s', (protocol) => {
  test('[MUS-228] a conversation goes through its scripts step by step, by what it tells alone', () => {
    const client = clients[protocol]
    const codec = protocols[protocol]
    const told: string[] = []
    const history = client.prompt(prompt(first))
    const take = () => {
      const conversation = codec.read(client.request(history), { model: 'm', isStream: false })
      const next = nextStep(conversation, {})
      told.push(next.kind === 'step' ? `${next.index} ${next.step.text ?? ''}` : next.kind)
      if (next.kind !== 'step') return
      const context = { id: `id${told.length}`, createdSec: 0, conversation, requestChars: 0 }
      history.push(...client.turn(codec.body(answerOf(next.step, context)), `result ${told.length}`))
    }
    for (let i = 0; i < 4; i++) take()
    history.push(...client.prompt(prompt(second)))
    for (let i = 0; i < 2; i++) take()
    expect(told).toEqual(['0 one', '1 ', '2 three: result 2', 'finished', '0 four', '1 five: result 5'])
  })
})
