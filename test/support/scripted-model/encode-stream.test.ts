import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Answer, type Frame, pieces } from '../../../src/adapters/models/scripted/protocol.ts'
import { protocols } from './scripted-model.ts'

const answer: Answer = {
  id: '0123456789ab',
  model: 'm',
  createdSec: 1_700_000_000,
  thinking: 'how?',
  text: 'so',
  calls: [],
  stopReason: 'end_turn',
  usage: { input: 100, output: 20, cacheRead: 30, cacheWrite: 4, reasoning: 5 },
}

const said = fc.option(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), { nil: undefined })
const inputs = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 3 })
const answers: fc.Arbitrary<Answer> = fc.record({ text: said, thinking: said, inputs }).map((drawn) => ({
  ...answer,
  text: drawn.text,
  thinking: drawn.thinking,
  calls: drawn.inputs.map((input, i) => ({ id: `c${i}`, name: `tool${i}`, input, namespace: undefined })),
}))

describe('a stream holds what the answer holds', () => {
  test.each(['anthropic', 'responses', 'chat', 'gemini'] as const)('[MUS-229] of %s', (protocol) => {
    fc.assert(
      fc.property(answers, (one) => {
        const { text = '', thinking = '', calls } = one
        const plain = calls.map(({ name, input }) => ({
          name,
          input: JSON.parse(JSON.stringify(input)) as unknown,
        }))
        expect(collect[protocol](protocols[protocol].frames(one))).toEqual({ text, thinking, calls: plain })
      }),
    )
  })
})

test('[MUS-229] a stream has the tokens of the body, at its end', () => {
  const frames = {
    anthropic: protocols.anthropic.frames(answer).findLast(({ event }) => event === 'message_delta'),
    responses: protocols.responses.frames(answer).at(-1),
    chat: protocols.chat.frames(answer).at(-2),
    gemini: protocols.gemini.frames(answer).at(-1),
  }
  expect(frames.anthropic?.data).toMatchObject({ usage: { input_tokens: 100, output_tokens: 20 } })
  expect(frames.responses?.data).toMatchObject({ response: protocols.responses.body(answer) })
  expect(frames.chat?.data).toMatchObject({ choices: [], usage: { completion_tokens: 20 } })
  expect(frames.gemini?.data).toMatchObject({ usageMetadata: { totalTokenCount: 154 } })
})

test('an Anthropic stream does not know its output at the start', () => {
  const [start] = protocols.anthropic.frames(answer)
  expect(start?.data).toMatchObject({
    type: 'message_start',
    message: { content: [], stop_reason: null, usage: { input_tokens: 100, output_tokens: 1 } },
  })
})

test('only pieces of the answer are slowed down', () => {
  const paced = (frames: readonly Frame[]) => frames.filter(({ isPiece }) => isPiece).length
  const long = { ...answer, text: 'x'.repeat(100), thinking: undefined }
  expect(paced(protocols.anthropic.frames(long))).toBe(5)
  expect(paced(protocols.responses.frames(long))).toBe(5)
  expect(paced(protocols.gemini.frames(long))).toBe(5)
})

test('no character is split between pieces', () => {
  const parts = pieces(`a${'😀'.repeat(50)}`)
  expect(parts).toHaveLength(3)
  expect(parts.every((part) => part.isWellFormed())).toBe(true)
})

type Collected = { text: string; thinking: string; calls: { name: string; input: unknown }[] }
type Call = { name: string; json: string }

const collected = (text: string, thinking: string, calls: readonly Call[]): Collected => ({
  text,
  thinking,
  calls: calls.map(({ name, json }) => ({ name, input: JSON.parse(json) as unknown })),
})

const dataOf = <T>(frames: readonly Frame[]): T[] => frames.map(({ data }) => data as T)
const joined = (list: readonly (string | undefined)[]): string => list.map((one) => one ?? '').join('')

/** Puts a stream together again, as a client of each protocol does. */
const collect: Record<keyof typeof protocols, (frames: readonly Frame[]) => Collected> = {
  anthropic(frames) {
    type Block = { type: string; name?: string }
    type Delta = { text?: string; thinking?: string; partial_json?: string }
    type Data = { type: string; index: number; content_block: Block; delta: Delta }
    const all = dataOf<Data>(frames)
    const deltas = all.filter(({ type }) => type === 'content_block_delta')
    const calls = all
      .filter(
        ({ type, content_block }) => type === 'content_block_start' && content_block.type === 'tool_use',
      )
      .map(({ index, content_block }) => ({
        name: content_block.name ?? '',
        json: joined(deltas.filter((one) => one.index === index).map(({ delta }) => delta.partial_json)),
      }))
    return collected(
      joined(deltas.map(({ delta }) => delta.text)),
      joined(deltas.map(({ delta }) => delta.thinking)),
      calls,
    )
  },

  responses(frames) {
    type Item = { type: string; name: string; arguments: string }
    type Data = { type: string; sequence_number: number; output_index: number; delta: string; item: Item }
    const all = dataOf<Data>(frames)
    expect(all.map((data) => data.sequence_number)).toEqual(all.map((_, i) => i))
    const deltas = (type: string, index?: number) =>
      joined(
        all
          .filter(
            (data) =>
              data.type === `response.${type}.delta` && data.output_index === (index ?? data.output_index),
          )
          .map(({ delta }) => delta),
      )
    const done = all.filter(({ type, item }) => type.endsWith('item.done') && item.type === 'function_call')
    const calls = done.map(({ item, output_index }) => {
      expect(deltas('function_call_arguments', output_index)).toBe(item.arguments)
      return { name: item.name, json: item.arguments }
    })
    return collected(deltas('output_text'), deltas('reasoning_summary_text'), calls)
  },

  chat(frames) {
    type Part = { index: number; function: { name?: string; arguments: string } }
    type Delta = { content?: string; reasoning_content?: string; tool_calls?: Part[] }
    expect(frames.at(-1)?.data).toBe('[DONE]')
    const deltas = dataOf<{ choices: [{ delta: Delta }] }>(frames.slice(0, -2)).map(
      (data) => data.choices[0].delta,
    )
    const calls: Call[] = []
    for (const part of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
      const call = (calls[part.index] ??= { name: part.function.name ?? '', json: '' })
      call.json += part.function.arguments
    }
    return collected(
      joined(deltas.map((delta) => delta.content)),
      joined(deltas.map((delta) => delta.reasoning_content)),
      calls,
    )
  },

  gemini(frames) {
    type Part = { text?: string; thought?: boolean; functionCall?: { name: string; args: unknown } }
    type Data = { candidates: [{ content: { parts: Part[] }; finishReason?: string }] }
    const candidates = dataOf<Data>(frames).map((data) => data.candidates[0])
    expect(candidates.filter(({ finishReason }) => finishReason !== undefined)).toEqual([candidates.at(-1)])
    const parts = candidates.flatMap(({ content }) => content.parts)
    const words = (isThought: boolean) =>
      joined(parts.filter(({ thought = false }) => thought === isThought).map(({ text }) => text))
    const calls = parts.flatMap(({ functionCall: call }) =>
      call === undefined ? [] : [{ name: call.name, json: JSON.stringify(call.args) }],
    )
    return collected(words(false), words(true), calls)
  },
}
