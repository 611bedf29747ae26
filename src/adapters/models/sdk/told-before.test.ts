import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { recordingProxy } from '../../../../test/support/recording-proxy.ts'
import { startScriptedModel } from '../../../../test/support/scripted-model/scripted-model.ts'
import { runs } from '../../../../test/support/size.ts'
import type { ModelProtocol } from '../../../contract/config/model-settings.ts'
import type { Model, ModelMessage, SaidPart } from '../../../ports/model.ts'
import { systemClock } from '../../system/clock.ts'
import { sdkModel } from './sdk-model.ts'

const servers: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

const folder = { anthropic: '/v1', openai: '/v1', google: '/v1beta', compatible: '/v1' }
/** What each provider gives to be sent back to it unchanged. */
const opaque: Record<ModelProtocol, unknown> = {
  anthropic: { anthropic: { signature: 'c2ln' } },
  openai: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'ZW5j' } },
  google: { google: { thoughtSignature: 'c2ln' } },
  compatible: undefined,
}
const tools = [{ name: 'Bash', description: 'runs', schema: { type: 'object', properties: {} } }]
const { signal } = new AbortController()

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
/** A turn of the model and what it is told then: answers to its calls, words of a person, or both. */
const exchange = fc.record({
  says: fc.option(text, { nil: undefined }),
  thinks: fc.option(text, { nil: undefined }),
  calls: fc.array(fc.record({ command: text, gives: text, isError: fc.boolean() }), { maxLength: 3 }),
  hears: fc.option(text, { nil: undefined }),
})

describe.each(Object.keys(folder) as ModelProtocol[])('%s', (protocol) => {
  const open = async () => {
    const server = await startScriptedModel({ seed: 'test' })
    const proxy = await recordingProxy(server.url)
    servers.push(proxy, server)
    const baseUrl = `${proxy.url}${folder[protocol]}`
    const made = () =>
      sdkModel({
        provider: 'scripted',
        protocol,
        id: 'scripted-1',
        baseUrl,
        apiKey: 'not-a-key',
        timeoutMs: 60_000,
        clock: systemClock,
      })
    const bodyOf = async (model: Model, messages: readonly ModelMessage[]) => {
      await model.turn({ messages, tools }, { signal }).catch(() => {})
      return JSON.parse(proxy.exchanges().at(-1)?.body ?? '')
    }
    return { made, bodyOf, last: () => proxy.exchanges().at(-1) }
  }

  test('[MUS-251] what is told turn by turn is what would be told at once', async () => {
    const { made, bodyOf } = await open()
    await fc.assert(
      fc.asyncProperty(fc.array(exchange, { minLength: 1, maxLength: 5 }), async (exchanges) => {
        const model = made()
        const messages: ModelMessage[] = [
          { role: 'system', text: 'You are terse.' },
          { role: 'user', text: 'Go on.' },
        ]
        for (const [i, one] of exchanges.entries()) {
          expect(await bodyOf(model, messages)).toEqual(await bodyOf(made(), messages))
          messages.push(...messagesOf(one, i))
        }
        expect(await bodyOf(model, messages)).toEqual(await bodyOf(made(), messages))
      }),
      runs(25),
    )
  })

  test('[MUS-251] a conversation that was made shorter, and a turn that failed, are told whole', async () => {
    const { made, bodyOf } = await open()
    const model = made()
    const head: ModelMessage = { role: 'system', text: 'You are terse.' }
    const begun: ModelMessage[] = [head, { role: 'user', text: 'One.' }]
    await bodyOf(model, begun)
    const failing: ModelMessage[] = [
      ...begun,
      { role: 'assistant', parts: [{ kind: 'text', text: 'Yes.' }] },
      { role: 'user', text: 'SCRIPT:[{"status":500}]' },
    ]
    const body = await bodyOf(made(), failing)
    expect(await bodyOf(model, failing)).toEqual(body)
    expect(await bodyOf(model, failing)).toEqual(body)
    const shorter: ModelMessage[] = [head, { role: 'user', text: 'In short.' }, ...failing.slice(2)]
    expect(await bodyOf(model, shorter)).toEqual(await bodyOf(made(), shorter))
  })

  test('[MUS-251] a request says how long it is: not every server takes one that does not', async () => {
    const { made, bodyOf, last } = await open()
    const model = made()
    const messages: ModelMessage[] = [{ role: 'user', text: 'Größe 📏' }]
    for (const text of ['One.', 'Two.', 'Three.']) {
      await bodyOf(model, messages)
      expect(last()?.headers['transfer-encoding']).toBeUndefined()
      expect(last()?.headers['content-length']).toBe(String(Buffer.byteLength(last()?.body ?? '')))
      messages.push({ role: 'assistant', parts: [{ kind: 'text', text }] }, { role: 'user', text })
    }
  })

  const messagesOf = (one: typeof exchange extends fc.Arbitrary<infer T> ? T : never, i: number) => {
    const own = opaque[protocol] === undefined ? {} : { opaque: opaque[protocol] }
    const calls = one.calls.map((call, n) => ({ ...call, callId: `call_${i}_${n}`, tool: 'Bash' }))
    const parts: SaidPart[] = [
      ...(one.thinks === undefined ? [] : [{ kind: 'thinking' as const, text: one.thinks, ...own }]),
      ...(one.says === undefined ? [] : [{ kind: 'text' as const, text: one.says }]),
      ...calls.map(({ callId, tool, command }) => ({
        kind: 'call' as const,
        callId,
        tool,
        input: { command },
      })),
    ]
    const answers = calls.map(({ callId, tool, gives, isError }) => ({ callId, tool, text: gives, isError }))
    const heard = one.hears ?? (answers.length === 0 ? 'Go on.' : undefined)
    const messages: ModelMessage[] = [
      { role: 'assistant', parts },
      ...(answers.length === 0 ? [] : [{ role: 'tool' as const, answers }]),
      ...(heard === undefined ? [] : [{ role: 'user' as const, text: heard }]),
    ]
    return messages
  }
})
