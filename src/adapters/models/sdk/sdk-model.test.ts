import { afterEach, describe, expect, test } from 'vitest'
import { startScriptedModel } from '../../../../test/support/scripted-model/scripted-model.ts'
import type { ModelProtocol } from '../../../contract/config/model-settings.ts'
import type { Model, ModelMessage, ModelPiece, ModelRequest } from '../../../ports/model.ts'
import { systemClock } from '../../system/clock.ts'
import type { ScriptedModel } from '../scripted/scripted-model.ts'
import { sdkModel } from './sdk-model.ts'

const servers: ScriptedModel[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

const protocols: ModelProtocol[] = ['anthropic', 'openai', 'google', 'compatible']
const folder = { anthropic: '/v1', openai: '/v1', google: '/v1beta', compatible: '/v1' }

async function model(
  protocol: ModelProtocol,
  timeoutMs = 60_000,
): Promise<Model & { server: ScriptedModel }> {
  const server = await startScriptedModel({ seed: 'test' })
  servers.push(server)
  const baseUrl = `${server.url}${folder[protocol]}`
  const made = sdkModel({
    provider: 'scripted',
    protocol,
    id: 'scripted-1',
    baseUrl,
    apiKey: 'not-a-key',
    timeoutMs,
    clock: systemClock,
  })
  return { ...made, server }
}

const tools = [
  {
    name: 'Bash',
    description: 'runs a command',
    schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  },
]
const asking = (...steps: object[]): ModelRequest => ({
  messages: [
    { role: 'system', text: 'You are terse.' },
    { role: 'user', text: `SCRIPT:${JSON.stringify(steps)}` },
  ],
  tools,
})
const { signal } = new AbortController()

describe.each(protocols)('%s', (protocol) => {
  test('[MUS-251] a turn is streamed: words, thoughts, parallel calls and exact tokens', async () => {
    const { turn } = await model(protocol)
    const text = 'I look at the files, and then at what they say of each other.'
    const usage = { input: 11, output: 22, cacheRead: 33, cacheWrite: 0, reasoning: 5 }
    const heard: ModelPiece[] = []
    const answer = await turn(
      asking({
        text,
        thinking: 'hm, which files?',
        tools: [
          { name: 'Bash', input: { command: 'ls' } },
          { name: 'Bash', input: { command: 'pwd' } },
        ],
        usage,
      }),
      { signal, onPiece: (piece) => heard.push(piece) },
    )
    expect(answer.responseId).not.toBe('')
    expect(answer.finish).toBe('calls')
    expect(answer.usage).toMatchObject({ input: 11, output: 22, cacheRead: 33 })
    const said = answer.parts.filter((part) => part.kind === 'text')
    expect(said.map((part) => part.text).join('')).toBe(text)
    const calls = answer.parts.filter((part) => part.kind === 'call')
    expect(calls.map(({ tool, input }) => [tool, input])).toEqual([
      ['Bash', { command: 'ls' }],
      ['Bash', { command: 'pwd' }],
    ])
    expect(new Set(calls.map(({ callId }) => callId)).size).toBe(2)
    const words = heard.filter((piece) => piece.kind === 'text')
    expect(words.length).toBeGreaterThan(1)
    expect(words.map((piece) => (piece.kind === 'text' ? piece.delta : '')).join('')).toBe(text)
  })

  test('[MUS-251] what was said and what tools gave goes back to the model', async () => {
    const { turn } = await model(protocol)
    const { messages } = asking(
      { text: 'I look.', thinking: 'hm', tools: [{ name: 'Bash', input: { command: 'ls' } }] },
      { text: 'There is: ${lastToolResult}' },
    )
    const first = await turn({ messages, tools }, { signal })
    const answers = first.parts
      .filter((part) => part.kind === 'call')
      .map(({ callId, tool }) => ({ callId, tool, text: 'README.md', isError: false }))
    const next: ModelMessage[] = [
      ...messages,
      { role: 'assistant', parts: first.parts },
      { role: 'tool', answers },
    ]
    const second = await turn({ messages: next, tools }, { signal })
    expect(second.finish).toBe('stop')
    expect(second.parts).toMatchObject([
      { kind: 'text', text: expect.stringMatching(/^There is: .*README\.md/) },
    ])
  })

  test.each([
    [429, 'rate_limited', true],
    [529, 'overloaded', true],
    [500, 'server', true],
    [401, 'login', false],
    [400, 'refused', false],
  ])('[MUS-252] status %i is %s', async (status, kind, isPassing) => {
    const { turn, server } = await model(protocol)
    const failed = turn(asking({ status, retryAfterSec: 7 }), { signal })
    await expect(failed).rejects.toMatchObject({ name: 'ModelFailure', kind, status, isPassing })
    if (status === 429) await expect(failed).rejects.toMatchObject({ retryAfterMs: 7000 })
    // Trying again is the caller's, who records it.
    expect(server.requests()).toHaveLength(1)
  })

  test('[MUS-252] a stream that is cut is a failure, not a short answer', async () => {
    const { turn } = await model(protocol)
    const text = 'words that will not all arrive, because the connection ends among them; '.repeat(4)
    await expect(turn(asking({ text, cut: true }), { signal })).rejects.toMatchObject({
      name: 'ModelFailure',
      isPassing: true,
    })
  })

  test('[MUS-252] silence ends the request after the time that was set', async () => {
    const { turn, server } = await model(protocol, 1500)
    await expect(turn(asking({ hang: true }), { signal })).rejects.toMatchObject({ kind: 'timeout' })
    await expect.poll(() => server.requests()[0]?.isSent).not.toBe(true)
    const words = 'a word every now and then is no silence, however long it all takes; '
    const slow = { text: words.repeat(5), chunkMs: 150 }
    expect((await turn(asking(slow), { signal })).finish).toBe('stop')
  })

  test('[MUS-252] an abort ends the request, before it and in the middle of it', async () => {
    const { turn } = await model(protocol)
    const off = new AbortController()
    const text = 'one two three four five six seven eight nine ten eleven twelve'
    const asked = turn(asking({ text, chunkMs: 200 }), {
      signal: off.signal,
      onPiece: () => off.abort(new Error('enough')),
    })
    await expect(asked).rejects.toThrow('enough')
    await expect(turn(asking({ text }), { signal: off.signal })).rejects.toThrow('enough')
  })
})

test.each(['anthropic', 'openai', 'compatible'] as const)(
  '[MUS-252] a call of %s whose input is no JSON is told as it came, and can be answered',
  async (protocol) => {
    const { turn } = await model(protocol)
    const { messages } = asking(
      { tools: [{ name: 'Bash', input: { command: 'ls' }, broken: true }] },
      { text: 'I see: ${lastToolResult}' },
    )
    const first = await turn({ messages, tools }, { signal })
    const [call] = first.parts
    if (call?.kind !== 'call') throw new Error('no call')
    expect(call).toMatchObject({ tool: 'Bash', input: undefined, malformed: '{"command":"ls"' })
    const answers = [{ callId: call.callId, tool: 'Bash', text: 'no JSON', isError: true }]
    const next: ModelMessage[] = [
      ...messages,
      { role: 'assistant', parts: first.parts },
      { role: 'tool', answers },
    ]
    expect((await turn({ messages: next, tools }, { signal })).parts).toMatchObject([
      { text: expect.stringMatching(/^I see: .*no JSON/) },
    ])
  },
)
