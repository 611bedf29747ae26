import { describe, expect, test } from 'vitest'
import { type Answer } from '../../../src/adapters/models/scripted/protocol.ts'

import { protocols } from './scripted-model.ts'

const answer: Answer = {
  id: '0123456789ab',
  model: 'm',
  createdSec: 1_700_000_000,
  thinking: 'how?',
  text: 'so',
  calls: [
    { id: undefined, name: 'Bash', input: { command: 'ls' }, namespace: undefined },
    { id: 'mine', name: 'spawn', input: { a: 1 }, namespace: 'group' },
  ],
  stopReason: 'tool_use',
  usage: { input: 100, output: 20, cacheRead: 30, cacheWrite: 4, reasoning: 5 },
}

describe('an answer in one body', () => {
  test('of the Anthropic protocol', () => {
    expect(protocols.anthropic.body(answer)).toMatchObject({
      id: 'msg_0123456789ab',
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'how?', signature: expect.any(String) },
        { type: 'text', text: 'so' },
        { type: 'tool_use', id: 'toolu_0123456789ab_0', name: 'Bash', input: { command: 'ls' } },
        { type: 'tool_use', id: 'mine', name: 'spawn', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: {
        input_tokens: 100,
        output_tokens: 20,
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 4,
        output_tokens_details: { thinking_tokens: 5 },
      },
    })
  })

  test('of the Responses protocol', () => {
    expect(protocols.responses.body(answer)).toMatchObject({
      id: 'resp_0123456789ab',
      object: 'response',
      status: 'completed',
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'how?' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'so' }] },
        { type: 'function_call', name: 'Bash', arguments: '{"command":"ls"}' },
        { type: 'function_call', name: 'spawn', call_id: 'mine', namespace: 'group', arguments: '{"a":1}' },
      ],
      usage: {
        input_tokens: 134,
        input_tokens_details: { cached_tokens: 30, cache_write_tokens: 4 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 5 },
        total_tokens: 154,
      },
    })
  })

  test('of the Responses protocol, for a tool that takes free text', () => {
    const calls = [{ id: 'p', name: 'apply_patch', input: '*** Begin', namespace: undefined }]
    expect(
      protocols.responses.body({ ...answer, calls, text: undefined, thinking: undefined }),
    ).toMatchObject({
      output: [{ type: 'custom_tool_call', call_id: 'p', name: 'apply_patch', input: '*** Begin' }],
    })
  })

  test('of the Chat Completions protocol', () => {
    expect(protocols.chat.body(answer)).toMatchObject({
      id: 'chatcmpl-0123456789ab',
      object: 'chat.completion',
      created: 1_700_000_000,
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'so',
            reasoning_content: 'how?',
            tool_calls: [
              { type: 'function', function: { name: 'Bash', arguments: '{"command":"ls"}' } },
              { id: 'mine', function: { name: 'spawn' } },
            ],
          },
        },
      ],
      usage: {
        prompt_tokens: 134,
        prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 4 },
        completion_tokens: 20,
        completion_tokens_details: { reasoning_tokens: 5 },
        total_tokens: 154,
      },
    })
  })

  test('of the Gemini protocol', () => {
    expect(protocols.gemini.body(answer)).toEqual({
      candidates: [
        {
          index: 0,
          content: {
            role: 'model',
            parts: [
              { text: 'how?', thought: true },
              { text: 'so' },
              { functionCall: { id: 'call_0123456789ab_0', name: 'Bash', args: { command: 'ls' } } },
              { functionCall: { id: 'mine', name: 'spawn', args: { a: 1 } } },
            ],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: {
        promptTokenCount: 134,
        cachedContentTokenCount: 30,
        candidatesTokenCount: 15,
        thoughtsTokenCount: 5,
        totalTokenCount: 154,
      },
      modelVersion: 'm',
      responseId: '0123456789ab',
    })
  })
})

test.each([
  ['anthropic', 'max_tokens', { stop_reason: 'max_tokens' }],
  ['responses', 'max_tokens', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
  ['responses', 'refusal', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
  ['chat', 'max_tokens', { choices: [{ finish_reason: 'length' }] }],
  ['gemini', 'max_tokens', { candidates: [{ finishReason: 'MAX_TOKENS' }] }],
  ['gemini', 'refusal', { candidates: [{ finishReason: 'SAFETY' }] }],
] as const)('%s says %s in its own words', (protocol, stopReason, body) => {
  expect(protocols[protocol].body({ ...answer, stopReason })).toMatchObject(body)
})

test('[MUS-252] Gemini sends no call that is no JSON, and says that there was one', () => {
  const [first, second] = answer.calls
  if (!first || !second) throw new Error('no calls')
  expect(protocols.gemini.body({ ...answer, calls: [{ ...first, isBroken: true }, second] })).toMatchObject({
    candidates: [
      {
        content: { parts: [{ text: 'how?', thought: true }, { text: 'so' }] },
        finishReason: 'MALFORMED_FUNCTION_CALL',
      },
    ],
  })
})

test('only Gemini cannot tell what was written to the cache', () => {
  expect(protocols.gemini.sentUsage(answer.usage)).toEqual({ ...answer.usage, input: 104, cacheWrite: 0 })
  expect(protocols.chat.sentUsage(answer.usage)).toEqual(answer.usage)
})

test('a failure has the shape of its protocol', () => {
  const failure = { status: 429, message: 'slow down', retryAfterSec: 3 }
  expect(protocols.anthropic.failure(failure)).toEqual({
    type: 'error',
    error: { type: 'rate_limit_error', message: 'slow down' },
  })
  expect(protocols.chat.failure(failure)).toMatchObject({
    error: { message: 'slow down', type: 'rate_limit_error' },
  })
  expect(protocols.gemini.failure(failure)).toMatchObject({
    error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '3s' }] },
  })
  expect(protocols.anthropic.failure({ status: 529, message: '' })).toMatchObject({
    error: { type: 'overloaded_error' },
  })
  expect(protocols.responses.failure({ status: 418, message: '' })).toMatchObject({
    error: { type: 'invalid_request_error' },
  })
})
