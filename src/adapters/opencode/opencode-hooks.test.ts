import { expect, test } from 'vitest'
import { ofKind } from '../../../test/support/screen-fixture.ts'
import { opencodeDialect } from './opencode-cli.ts'
import { openCodeHook } from './opencode-hooks.ts'

const hook = (event: string, fields: object = {}) => openCodeHook({ at: 5, event, ...fields }, 9)

test('[SM-86] what came late keeps the time at which it was made', () => {
  expect(hook('session.idle', { text: 'done' })).toEqual([
    { source: 'hook', at: 5, kind: 'turn-end', background: 0, text: 'done' },
  ])
  expect(openCodeHook({ event: 'session.compacted' }, 9)[0]).toMatchObject({ at: 9 })
})

test('[SM-68] the first session is the start, a later one a new conversation', () => {
  const info = { id: 'ses_1', directory: '/home/dev/proj', version: '1.18.33', model: { id: 'm' } }
  expect(hook('session.created', { info, isFirst: true })[0]).toMatchObject({
    kind: 'ready',
    reason: 'startup',
    foreignId: 'ses_1',
    model: 'm',
  })
  expect(hook('session.created', { info, isFirst: false })[0]).toMatchObject({ reason: 'clear' })
  expect(hook('session.created', { info: { ...info, agent: 'general' }, agent: 'ses_1' })[0]).toEqual({
    source: 'hook',
    at: 5,
    kind: 'subagent-start',
    agentId: 'ses_1',
    agentType: 'general',
  })
})

test('[SM-43] a prompt given while it works is queued, not a new turn', () => {
  expect(hook('chat.message', { text: 'go', id: 'm' })[0]).toMatchObject({
    kind: 'prompt',
    origin: 'person',
    text: 'go',
  })
  expect(hook('chat.message', { text: 'go', isQueued: true })[0]).toMatchObject({
    kind: 'prompt-queued',
    text: 'go',
  })
})

test('[SM-86] a tool ends with its time, and a command with its exit code', () => {
  const part = (state: object) =>
    hook('message.part.updated', { part: { type: 'tool', tool: 'bash', callID: 'c', state } })
  expect(
    part({ status: 'completed', output: 'hi', metadata: { exit: 0 }, time: { start: 10, end: 25 } })[0],
  ).toMatchObject({
    kind: 'tool-end',
    tool: 'Bash',
    ok: true,
    output: 'hi',
    durationMs: 15,
  })
  expect(part({ status: 'completed', output: '', metadata: { exit: 3 } })[0]).toMatchObject({
    ok: false,
    error: 'exit code 3',
  })
  expect(part({ status: 'error', error: 'rejected' })[0]).toMatchObject({ ok: false, error: 'rejected' })
})

test('[MUS-180] tokens are counted from the finished answer, reasoning within the output', () => {
  const info = {
    role: 'assistant',
    id: 'msg_1',
    modelID: 'm',
    finish: 'stop',
    tokens: { input: 700, output: 60, reasoning: 40, total: 1100, cache: { read: 300, write: 0 } },
  }
  const [usage] = ofKind([...hook('message.updated', { info })], 'usage')
  expect(usage).toMatchObject({ responseId: 'msg_1', model: 'm', finishReason: 'stop' })
  expect(usage?.usage).toEqual({
    input: 700,
    output: 100,
    cacheRead: 300,
    cacheWrite: 0,
    reasoning: 40,
    total: 1100,
  })
  const empty = { ...info, tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } } }
  expect(hook('message.updated', { info: empty })).toEqual([])
})

test('[SM-72] Escape is an interruption, everything else a failure', () => {
  expect(hook('session.error', { error: { name: 'MessageAbortedError' } })[0]).toMatchObject({
    kind: 'interrupted',
  })
  const error = { name: 'APIError', data: { message: 'too many', statusCode: 429 } }
  expect(hook('session.error', { error })[0]).toMatchObject({
    kind: 'turn-failed',
    error: 'too many',
    status: 429,
    limit: {},
  })
  const status = { type: 'retry', attempt: 2, message: 'busy' }
  expect(hook('session.status', { status })[0]).toMatchObject({ kind: 'retrying', attempt: 2, error: 'busy' })
})

const permission = {
  event: 'permission.asked',
  id: 'per_1',
  permission: 'bash',
  patterns: ['ls *'],
  metadata: { command: 'ls' },
  tool: { callID: 'c' },
}
const question = {
  event: 'question.asked',
  questions: [
    { question: 'Which?', options: [{ label: 'Red' }], multiple: false },
    { question: 'When?', options: [] },
  ],
}

test('[SM-69] a permission names its call, and a question its choices', () => {
  expect(openCodeHook(permission, 1)[0]).toMatchObject({
    kind: 'asking',
    ask: 'permission',
    tool: 'Bash',
    callId: 'c',
    input: { command: 'ls' },
    detail: 'ls *',
  })
  expect(openCodeHook(question, 1)[0]).toMatchObject({
    ask: 'question',
    questions: [{ question: 'Which?' }, {}],
  })
})

test('[MUS-187] answers are what the plugin sends on', () => {
  const body = (payload: unknown, decision: Parameters<typeof opencodeDialect.decision>[1]) =>
    JSON.parse(opencodeDialect.decision(payload, decision)?.body ?? 'null')
  expect(body(permission, { verdict: 'allow', scope: 'once' })).toEqual({
    path: 'reply',
    body: { reply: 'once' },
  })
  expect(body(permission, { verdict: 'allow', scope: 'session' })).toEqual({
    path: 'reply',
    body: { reply: 'always' },
  })
  expect(body(permission, { verdict: 'deny', reason: 'no' })).toEqual({
    path: 'reply',
    body: { reply: 'reject', message: 'no' },
  })
  const allow = (answers: Record<string, string>) =>
    body(question, { verdict: 'allow', scope: 'once', answers })
  expect(allow({ 'Which?': 'Red' })).toBeNull()
  expect(allow({ 'Which?': 'Red', 'When?': 'as you like' })).toEqual({
    path: 'reply',
    body: { answers: [['Red'], ['as you like']] },
  })
  expect(body(question, { verdict: 'deny' })).toEqual({ path: 'reject' })
  expect(body({ event: 'tool.before' }, { verdict: 'deny' })).toBeNull()
})

test('[MUS-209] a gate is passed by an explicit yes', () => {
  expect(JSON.parse(opencodeDialect.gate({}, { allowed: true }).body)).toEqual({ allow: true })
  expect(JSON.parse(opencodeDialect.gate({}, { allowed: false, reason: 'no' }).body)).toEqual({
    allow: false,
    reason: 'no',
  })
  expect(opencodeDialect.nothing.body).toBe('')
  expect(opencodeDialect.inject({ event: 'tool.after' }, 'note')?.body).toBe('{"append":"note"}')
  expect(opencodeDialect.inject({ event: 'chat.message' }, 'note')).toBeUndefined()
})

test('[MUS-14] unknown events and payloads of other shapes tell nothing', () => {
  for (const payload of [
    undefined,
    'x',
    [],
    {},
    { event: 'tomorrow' },
    { event: 'session.created', info: 3 },
  ])
    expect(openCodeHook(payload, 1)).toEqual([])
})
