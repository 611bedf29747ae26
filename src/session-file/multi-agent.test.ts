import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codes, example, goldenText, single } from '../../test/support/std-008.ts'
import { agentSessions } from '../../test/support/std-008-arbitraries.ts'
import { asMultiAgent, isMultiAgentSession, updatedAt } from './multi-agent.ts'
import { migrate, readSession } from './read-session.ts'
import {
  parseAgentSession,
  parseMultiAgentSession,
  parseSession,
  validateMultiAgentSession,
  validateSession,
} from './validate.ts'

test('[LOG-10] a file name is multi-agent exactly when it ends in -multi.json', () => {
  expect(isMultiAgentSession('2026-01-26-001-implement-timeline-multi.json')).toBe(true)
  for (const name of ['2026-01-26-001-timeline.json', 'x-multi.JSON', 'x-multi.json.bak', 'multi.json', ''])
    expect(isMultiAgentSession(name)).toBe(false)
})

test('[COL-55, LOG-11] a session is multi-agent exactly when its mode says so', () => {
  expect(isMultiAgentSession(example())).toBe(true)
  for (const other of [single(), asMultiAgent(single()), {}, null, [], 7, { collaboration: 'multi_agent' }])
    expect(isMultiAgentSession(other)).toBe(false)
})

test('[LOG-123] a single session seen as a collaboration keeps its fields and adds the empty ones', () => {
  const { collaboration, sub_sessions, messages, summary, ...rest } = asMultiAgent(single())
  const { summary: base, ...fields } = single()
  expect(rest).toEqual(fields)
  expect(summary).toMatchObject(base)
  expect([sub_sessions, messages]).toEqual([[], []])
  expect(collaboration).toEqual({
    mode: 'single',
    pattern: 'master_worker',
    orchestrator: { agent_id: 'main', agent_type: 'architect' },
    participants: [],
  })
  expect(asMultiAgent(example())).toEqual(example())
})

test('[LOG-124] it is valid, whatever the single session was', () => {
  expect(validateMultiAgentSession(asMultiAgent(single()))).toEqual({ valid: true, errors: [], warnings: [] })
  fc.assert(
    fc.property(agentSessions, (session) => {
      expect(validateMultiAgentSession(asMultiAgent(session)).errors).toEqual([])
    }),
  )
})

test('[LOG-124] the view that only adds the empty fields is valid too, and what it has beyond them is checked', () => {
  const { summary } = asMultiAgent(single())
  const view = (more: object = {}) => ({
    ...single(),
    collaboration: {
      mode: 'single',
      pattern: 'master_worker',
      orchestrator: { agent_id: 'main', agent_type: 'architect' },
      participants: [],
    },
    sub_sessions: [],
    messages: [],
    ...more,
  })
  expect(validateSession(view())).toEqual({ valid: true, errors: [], warnings: [] })
  expect(parseSession(view())).toMatchObject({ success: true })
  expect(readSession(view()).session).toEqual(view({ summary }))
  const half = { ...single().summary, tasks: { total: 'one' } }
  expect(codes(validateSession(view({ summary: half })).errors)).toContain('schema /summary/tasks/total')
  const several = { ...view().collaboration, mode: 'multi_agent' }
  expect(codes(validateSession(view({ collaboration: several })).errors)).toContain('schema /summary/agents')
})

test('[LOG-125] any JSON value is parsed as the format its content says, or answered with what is wrong', () => {
  expect(parseSession(example())).toMatchObject({ success: true, session: example(), errors: [] })
  expect(parseSession(single())).toMatchObject({ success: true, session: single(), errors: [] })
  expect(parseSession({ ...example(), extra: { kept: 1 } })).toMatchObject({
    success: true,
    session: { extra: { kept: 1 } },
  })
  for (const value of [
    null,
    undefined,
    [],
    'x',
    1,
    true,
    {},
    { collaboration: null },
    { collaboration: { mode: 'multi_agent' } },
  ]) {
    const parsed = parseSession(value)
    expect(parsed.success).toBe(false)
    expect(parsed.errors.length).toBeGreaterThan(0)
  }
  expect([parseMultiAgentSession(single()).success, parseAgentSession(example()).success]).toEqual([
    false,
    true,
  ])
})

test('[LOG-125] a missing field is named by its path', () => {
  const { sub_sessions: _gone, ...rest } = example()
  expect(parseSession(rest)).toMatchObject({
    success: false,
    errors: [{ path: '/sub_sessions', code: 'schema' }],
  })
})

test('[LOG-104] the last touch falls back to the end and then to the beginning', () => {
  const session = single()
  expect(updatedAt({ ...session, updated_at: '2026-01-27T00:00:00Z' })).toBe('2026-01-27T00:00:00Z')
  expect(updatedAt(session)).toBe(session.completed_at)
  const { completed_at: _gone, ...open } = session
  expect(updatedAt(open)).toBe(session.created_at)
})

test('[LOG-123, LOG-124] files of every version migrate to the present shape, with a report', () => {
  for (const [name, from] of [
    ['v1-steps', 'std-001-v2'],
    ['v2-phases', 'std-001-v2'],
    ['early-title', 'std-001-v3'],
    ['older-messages', 'std-008'],
  ] as const) {
    const migrated = migrate(JSON.parse(goldenText(`${name}.json`)), { filename: `${name}.json` })
    expect(migrated.from).toBe(from)
    expect(migrated.repairs.length).toBeGreaterThan(0)
    expect(validateMultiAgentSession(migrated.session).errors).toEqual([])
  }
  expect(migrate(single())).toEqual({ session: asMultiAgent(single()), repairs: [], from: 'std-001-v3' })
})
