import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ofKind, signalsOf } from '../../../test/support/screen-fixture.ts'
import { codexLine } from './codex-transcript.ts'

const file = new URL('./fixtures/0.166.0-rollout.jsonl', import.meta.url)
const signals = signalsOf(file, codexLine)

test('[SM-86] a rollout tells of prompts, tools, words and the ends of turns, in order', () => {
  expect(signals.filter(({ kind }) => kind !== 'meter').map(({ kind }) => kind)).toEqual([
    'ready',
    'prompt',
    'text',
    'tool-start',
    'tool-start',
    'usage',
    'tool-end',
    'tool-end',
    'text',
    'usage',
    'turn-end',
    'usage',
    'compacted',
    'turn-end',
    'prompt',
    'turn-failed',
    'prompt',
    'interrupted',
  ])
  expect(signals[0]).toMatchObject({ foreignId: '01a1e19c-ed96-7a70-a06c-902653dd32e1', version: '0.166.0' })
})

test('[SM-86] a command ends once, with its exit code', () => {
  const [start] = ofKind(signals, 'tool-start')
  expect(start).toMatchObject({ tool: 'Bash', input: { command: 'echo oops; exit 3' } })
  const ends = ofKind(signals, 'tool-end').filter(({ callId }) => callId === start?.callId)
  expect(ends).toEqual([expect.objectContaining({ ok: false, error: 'exit code 3', output: 'oops\n' })])
})

test('[MUS-180] each response is counted once, however often its totals are repeated', () => {
  const usage = ofKind(signals, 'usage')
  expect(usage.map(({ usage: { total } }) => total)).toEqual([5738, 5893, 6130])
  expect(new Set(usage.map(({ responseId }) => responseId)).size).toBe(3)
  expect(usage.every(({ model }) => model === 'gpt-5.1-codex')).toBe(true)
})

test('[MUS-180] without records the differences of the totals give the same sum', () => {
  const memory = {}
  const lines = readFileSync(file, 'utf8').split('\n')
  const older = lines
    .filter((line) => !line.includes('token_usage_record'))
    .flatMap((line) => codexLine(line, { memory }))
  const total = (list: typeof signals) =>
    ofKind(list, 'usage').reduce((sum, { usage }) => sum + (usage.total ?? 0), 0)
  expect(total(older)).toBe(total(signals))
  expect(ofKind(older, 'usage').length).toBe(3)
})

test('[MUS-180] cached input is counted apart, and only once', () => {
  const payload = {
    response_id: 'resp_1',
    usage: {
      input_tokens: 100,
      cached_input_tokens: 60,
      cache_write_input_tokens: 10,
      output_tokens: 20,
      reasoning_output_tokens: 5,
      total_tokens: 120,
    },
  }
  const line = JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', type: 'token_usage_record', payload })
  expect(ofKind([...codexLine(line, { memory: {} })], 'usage')[0]?.usage).toEqual({
    input: 30,
    output: 20,
    cacheRead: 60,
    cacheWrite: 10,
    reasoning: 5,
    total: 120,
  })
})

test('[SM-72] a failed turn carries its status, and a limit is marked as one', () => {
  const failed = (error: unknown) => {
    const payload = { type: 'task_complete', error }
    const line = JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', type: 'event_msg', payload })
    return codexLine(line, { memory: {} })
  }
  expect(ofKind(signals, 'turn-failed')[0]).not.toHaveProperty('limit')
  const status = { response_too_many_failed_attempts: { http_status_code: 429 } }
  expect(failed({ message: 'too many', codex_error_info: status })).toEqual([
    expect.objectContaining({ kind: 'turn-failed', error: 'too many', status: 429, limit: {} }),
  ])
  expect(failed({ message: 'used up', codex_error_info: 'usage_limit_exceeded' })[0]).toHaveProperty(
    'limit',
    {},
  )
})

test("[SM-118] a subagent's file tells of its beginning and end to the parent, and the rest of itself", () => {
  const at = '2026-01-01T00:00:00.000Z'
  const meta = { id: 'child', session_id: 'root', parent_thread_id: 'root', agent_nickname: 'Mill' }
  const context = { agent: 'child', memory: {} }
  const lines = [
    { timestamp: at, type: 'session_meta', payload: meta },
    { timestamp: at, type: 'event_msg', payload: { type: 'task_complete', last_agent_message: 'found it' } },
  ]
  const told = lines.flatMap((line) => codexLine(JSON.stringify(line), context))
  expect(told).toEqual([
    expect.objectContaining({ kind: 'subagent-start', agentId: 'child', description: 'Mill' }),
    expect.objectContaining({ kind: 'turn-end', agent: 'child' }),
    expect.objectContaining({ kind: 'subagent-end', agentId: 'child', text: 'found it' }),
  ])
  expect(told[0]).not.toHaveProperty('agent')
})

test('[MUS-14] what is cut off, unknown or of another shape tells nothing', () => {
  const whole = readFileSync(file, 'utf8').split('\n')[3] ?? ''
  const odd = ['', 'x', '[]', 'null', '{}', '{"timestamp":1}', '{"timestamp":"x","type":"event_msg"}']
  for (const line of [...odd, whole.slice(0, -20), whole.replace('item_completed', 'item_of_tomorrow')])
    expect(codexLine(line, { memory: {} })).toEqual([])
})
