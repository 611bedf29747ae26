import { expect, test } from 'vitest'
import { ofKind, signalsOf } from '../../../test/support/screen-fixture.ts'
import { piDialect } from './pi-cli.ts'
import { piHook } from './pi-hooks.ts'
import { piLine } from './pi-transcript.ts'

const signals = signalsOf(new URL('./fixtures/0.74.2-session.jsonl', import.meta.url), piLine)

test('[SM-86] a session file tells of prompts, tools, words and the ends of turns', () => {
  expect(signals.slice(0, 9).map(({ kind }) => kind)).toEqual([
    'ready',
    'prompt',
    'usage',
    'tool-start',
    'tool-end',
    'text',
    'usage',
    'turn-end',
    'prompt',
  ])
  expect(ofKind(signals, 'tool-start')[0]).toMatchObject({ tool: 'Bash' })
  expect(ofKind(signals, 'interrupted').length).toBe(1)
})

test('[SM-72] an error that pi repeats by itself is no end yet', () => {
  expect(ofKind(signals, 'turn-failed')).toEqual([
    expect.objectContaining({ error: '400 scripted error', status: 400 }),
  ])
  expect(ofKind(signals, 'retrying')).toEqual([expect.objectContaining({ error: '429 scripted error' })])
})

test('[MUS-180] each answer is counted once, and one that was cut off not at all', () => {
  const usage = ofKind(signals, 'usage')
  expect(new Set(usage.map(({ responseId }) => responseId)).size).toBe(usage.length)
  expect(usage.every(({ usage: { total } }) => (total ?? 0) > 0)).toBe(true)
  const answer = { role: 'assistant', content: [], model: 'm', usage: { input: 3, output: 1 } }
  const line = JSON.stringify({
    type: 'message',
    id: 'a1',
    timestamp: '2026-01-01T00:00:00.000Z',
    message: answer,
  })
  expect(piLine(line, { memory: { session: 's' } })[0]).toMatchObject({
    responseId: 'pi:s:a1',
    usage: { total: 4 },
  })
})

const hook = (event: string, fields: object = {}) => piHook({ at: 5, event, ...fields }, 9)

test('[SM-68] the extension tells of sessions, prompts and ends', () => {
  expect(hook('session_start', { reason: 'startup', id: 's', file: '/x' })).toEqual([
    { source: 'hook', at: 5, kind: 'ready', reason: 'startup', foreignId: 's', transcript: '/x' },
  ])
  expect(hook('session_start', { reason: 'reload' })).toEqual([])
  expect(hook('before_agent_start', { text: 'go' })[0]).toMatchObject({ kind: 'prompt', text: 'go' })
  expect(hook('input', { text: 'more', isQueued: true })[0]).toMatchObject({ kind: 'prompt-queued' })
  expect(hook('agent_end', { stopReason: 'stop', text: 'done' })[0]).toMatchObject({
    kind: 'turn-end',
    text: 'done',
  })
  expect(hook('agent_end', { stopReason: 'aborted' })[0]).toMatchObject({ kind: 'interrupted' })
  expect(hook('agent_end', { stopReason: 'error', error: '400 bad' })[0]).toMatchObject({
    kind: 'turn-failed',
  })
  expect(hook('session_shutdown', { reason: 'quit' })[0]).toMatchObject({ kind: 'gone', reason: 'quit' })
  expect(hook('session_shutdown', { reason: 'new' })[0]).toMatchObject({ kind: 'gone', reason: 'clear' })
})

test('[MUS-187] a permission is answered as the extension takes it', () => {
  const asked = { event: 'permission_request', tool: 'bash', callId: 'c', input: { command: 'ls' } }
  expect(piHook(asked, 1)[0]).toMatchObject({ kind: 'asking', ask: 'permission', tool: 'Bash', callId: 'c' })
  const body = (decision: Parameters<typeof piDialect.decision>[1]) =>
    JSON.parse(piDialect.decision(asked, decision)?.body ?? 'null')
  expect(body({ verdict: 'allow', scope: 'once' })).toEqual({ allow: true })
  expect(body({ verdict: 'allow', scope: 'session' })).toEqual({ allow: true })
  expect(body({ verdict: 'deny', reason: 'no' })).toEqual({ allow: false, reason: 'no' })
  expect(piDialect.decision({ event: 'tool_call' }, { verdict: 'deny' })).toBeUndefined()
})

test('[MUS-14] unknown events and lines tell nothing', () => {
  for (const payload of [undefined, 1, [], {}, { event: 'tomorrow' }, { event: 'tool_call', tool: 3 }])
    expect(piHook(payload, 1)).toEqual([])
  for (const line of ['', '{', '[]', '{"type":"message","timestamp":"x"}', '{"type":"label","timestamp":1}'])
    expect(piLine(line, { memory: {} })).toEqual([])
})
