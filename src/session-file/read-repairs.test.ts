import { expect, test } from 'vitest'
import { withChange } from '../../test/support/read-sessions.ts'
import { example, goldenText, single } from '../../test/support/std-008.ts'
import { AppError } from '../contract/errors.ts'
import type { MultiAgentSession } from '../contract/session-file/multi-agent-session.ts'
import { parseJsonText } from '../core/json/parse-json-text.ts'
import { readSession } from './read-session.ts'
import { validateSession } from './validate.ts'

type Json = Record<string, unknown>

test('[LOG-26, LOG-130] words for a status are translated; an unknown one is read by whether the session ended', () => {
  const read = (status: unknown, isEnded: boolean) =>
    withChange((session) => {
      session['status'] = status
      if (!isEnded) Reflect.deleteProperty(session, 'completed_at')
    }).session
  for (const [word, status] of [
    ['completed', 'success'],
    ['DONE', 'success'],
    ['aborted', 'failed'],
    ['timed out', 'failed'],
    ['running', 'in_progress'],
  ] as const)
    expect(read(word, true)).toMatchObject({ status, original_status: word })
  expect(read('gebrochen', true)).toMatchObject({ status: 'failed', original_status: 'gebrochen' })
  expect(read('gebrochen', false)).toMatchObject({ status: 'in_progress', original_status: 'gebrochen' })
})

test('[LOG-139] times in seconds, milliseconds, without a zone or with a space are read as UTC', () => {
  for (const [given, read] of [
    [1_769_421_600, '2026-01-26T10:00:00.000Z'],
    [1_769_421_600_123, '2026-01-26T10:00:00.123Z'],
    ['1769421600', '2026-01-26T10:00:00.000Z'],
    ['2026-01-26T10:00:00', '2026-01-26T10:00:00Z'],
    ['2026-01-26 10:00', '2026-01-26T10:00:00Z'],
    ['2026-01-26', '2026-01-26T00:00:00Z'],
    ['2026-01-26T10:00:00+0530', '2026-01-26T10:00:00+05:30'],
    ['2026-01-26T10:00:00,5 UTC', '2026-01-26T10:00:00.5Z'],
  ] as const)
    expect(
      withChange((session) => {
        session['created_at'] = given
      }).session['created_at'],
    ).toBe(read)
})

test('[LOG-139] a session that nowhere says when it began takes the time of its calls or of its name, else it is refused', () => {
  const { created_at: _gone, completed_at: _end, ...rest } = single()
  expect(readSession(rest).session.created_at).toBe('2026-01-26T10:00:01Z')
  const bare = { ...rest, tool_calls: [] }
  expect(readSession(bare).session.created_at).toBe('2026-01-26T00:00:00Z')
  expect(
    readSession({ ...bare, session_id: 'x' }, { filename: '2026-02-03-001-y.json' }).session.created_at,
  ).toBe('2026-02-03T00:00:00Z')
  expect(() => readSession({ ...bare, session_id: 'x' })).toThrow(/created_at/)
})

test('[LOG-127] an end before its start becomes the start, and what the file said stays beside', () => {
  const { session, done } = withChange((each) => {
    ;(each['tool_calls'] as Json[])[0]!['ended_at'] = '2026-01-26T09:00:00Z'
  })
  expect((session['tool_calls'] as Json[])[0]).toMatchObject({
    ended_at: '2026-01-26T10:00:01Z',
    original_ended_at: '2026-01-26T09:00:00Z',
  })
  expect(done).toEqual(['converted /tool_calls/0/ended_at'])
})

test('[LOG-127] ids that repeat are told apart, and the old id stays beside', () => {
  const { session } = withChange((each) => {
    for (const item of each['tool_calls'] as Json[]) item['call_id'] = 'same'
  })
  expect(
    (session['tool_calls'] as Json[]).map((each) => [each['call_id'], each['original_call_id']]),
  ).toEqual([
    ['same', undefined],
    ['same~2', 'same'],
  ])
})

test('[LOG-127] broken links of a collaboration are mended: parents, triggers, agents, replies, ranges', () => {
  const session = example()
  const [one, two] = session.sub_sessions
  Object.assign(one ?? {}, { parent_session_id: 'sub-002' })
  Object.assign(two ?? {}, { parent_session_id: 'sub-001', triggered_by_call_id: 'gone' })
  Object.assign(session.messages[0] ?? {}, {
    to_agent: { agent_id: 'guest', agent_type: 'developer' },
    reply_to: 'gone',
  })
  Object.assign(session, {
    phase_annotations: [
      {
        annotation_id: 'a',
        phase_type: 'plan',
        tool_call_range: { start_call_id: 'x', end_call_id: 'y' },
        annotated_by: 'agent',
        annotated_at: session.created_at,
        confidence: 'low',
      },
    ],
  })
  const read = readSession(session)
  expect(validateSession(read.session).errors).toEqual([])
  const mended = read.session as MultiAgentSession & Json
  expect(mended.sub_sessions.map((sub) => sub.parent_session_id)).toEqual([
    session.session_id,
    session.session_id,
  ])
  expect(mended.sub_sessions[1]?.triggered_by_call_id).toBe('tool-003')
  expect(mended.collaboration.participants.map((agent) => agent.agent_id)).toContain('guest')
  expect(mended['original_phase_annotations']).toHaveLength(1)
})

test('[LOG-127] a field named __proto__ is dropped wherever it stands, and changes no object', () => {
  const text = JSON.stringify(single()).replace('"params":{}', '"params":{"__proto__":{"polluted":1},"a":1}')
  const read = readSession(JSON.parse(text.replace('{', '{"__proto__":{"polluted":1},')))
  expect(read.repairs.map(({ code, path }) => `${code} ${path}`)).toEqual([
    'dropped /__proto__',
    'dropped /tool_calls/0/input/params/__proto__',
  ])
  expect(read.session.tool_calls[0]?.input.params).toEqual({ a: 1 })
  expect(({} as Json)['polluted']).toBeUndefined()
})

test('[LOG-128] text that is no JSON is refused with line and column', () => {
  const refusal = (() => {
    try {
      parseJsonText(goldenText('not-json.json'))
      return undefined
    } catch (error) {
      return error
    }
  })()
  expect(refusal).toBeInstanceOf(AppError)
  expect(refusal).toMatchObject({ code: 'invalid', details: { line: 3, column: 23 } })
})

test('[LOG-127] what is no session at all is refused, with the place', () => {
  let deep: unknown = {}
  for (let i = 0; i < 300; i++) deep = [deep]
  for (const [value, path] of [
    [null, ''],
    [[], ''],
    [7, ''],
    ['x', ''],
    [{ a: 1 }, ''],
    [{ ...single(), x: deep }, `/x${'/0'.repeat(200)}`],
  ] as const) {
    try {
      readSession(value)
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ name: 'AppError', code: 'invalid', details: { path } })
    }
  }
})
